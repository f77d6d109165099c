"""Who may do what, changed while clients are at work."""

from ..acls import Acl, text
from ..cluster.cluster import Cluster
from .parameters import AclText
from .subjects import ACLS
from .verb import verb

_NO_AUTHORIZER = "everybody may do everything: start the cluster with acls or super_users"


def _are_there(cluster: Cluster, acls: Cluster, acl: AclText) -> str:
    if cluster.authorizer is None:
        return _NO_AUTHORIZER
    asked = text.read(acl)
    return "" if set(asked) - _present(cluster) else f"there already: {_shown(asked)}"


@verb("add-acl", ACLS, unless=_are_there)
def add_acl(cluster: Cluster, acls: Cluster, acl: AclText) -> None:
    """Adds ACLs, as CreateAcls does: from now on clients may do more, or less."""
    for each in text.read(acl):
        cluster.controller.create_acl(each)


def _are_not_there(cluster: Cluster, acls: Cluster, acl: AclText) -> str:
    if cluster.authorizer is None:
        return _NO_AUTHORIZER
    asked = text.read(acl)
    return "" if set(asked) & _present(cluster) else f"not there: {_shown(asked)}"


@verb("remove-acl", ACLS, unless=_are_not_there)
def remove_acl(cluster: Cluster, acls: Cluster, acl: AclText) -> None:
    """Removes ACLs, as DeleteAcls does, written as they were when they were added."""
    cluster.controller.delete_acls(text.read(acl))


def _present(cluster: Cluster) -> set[Acl]:
    return set(cluster.controller.image.acls)


def _shown(acls: list[Acl]) -> str:
    return ", ".join(map(str, acls))
