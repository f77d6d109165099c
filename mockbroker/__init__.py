"""A wire-compatible mock Kafka cluster whose behaviour is pluggable."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .server.mock_cluster import MockCluster
    from .server.serving import serve

__all__ = ["MockCluster", "serve"]


def __getattr__(name: str) -> Any:
    # Imported on demand: `mockbroker.protocol` alone should not load a server.
    if name == "MockCluster":
        from .server.mock_cluster import MockCluster

        return MockCluster
    if name == "serve":
        from .server.serving import serve

        return serve
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
