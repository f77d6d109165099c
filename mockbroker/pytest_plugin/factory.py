"""The type of `mock_cluster_factory`, for type checkers."""

from typing import TYPE_CHECKING, Protocol, Unpack

from ..cluster_options import ClusterOptions

if TYPE_CHECKING:
    from ..server.mock_cluster import MockCluster


class ClusterFactory(Protocol):
    """Makes a cluster, as the fixture `mock_cluster_factory` does."""

    def __call__(self, **options: Unpack[ClusterOptions]) -> "MockCluster": ...
