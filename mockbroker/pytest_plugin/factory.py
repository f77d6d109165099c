"""What tests are given to make clusters with, for type checkers."""

from typing import TYPE_CHECKING, Protocol, Unpack

from ..cluster_options import ClusterOptions

if TYPE_CHECKING:
    from ..server.mock_cluster import MockCluster


class ClusterFactory(Protocol):
    """What `mock_cluster_factory` is."""

    def __call__(self, **options: Unpack[ClusterOptions]) -> "MockCluster": ...
