"""The ACLs of the cluster."""

from ..cluster.cluster import Cluster
from .registry import operation
from .target import Target


def shown(cluster: Cluster) -> list[str]:
    return [str(each) for each in cluster.controller.image.acls]


@operation("acls list", "GET", "/acls")
def acls(target: Target) -> list[str]:
    """Lists the ACLs, as `acls add` reads them, in the order in which they were added."""
    return shown(target.cluster)
