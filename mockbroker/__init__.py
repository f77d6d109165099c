"""A wire-compatible mock Kafka cluster whose behaviour is pluggable."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .server.serving import MockCluster, serve

__all__ = ["MockCluster", "serve"]


def __getattr__(name: str) -> Any:
    # Imported on demand: `mockbroker.protocol` alone should not load a server.
    if name in __all__:
        from .server import serving

        return getattr(serving, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
