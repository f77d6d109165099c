"""The client libraries that can stand in a model client's place, by name."""

from typing import Final

from mockbroker.nearest import nearest

from .instruments import Instruments

CLIENTS: Final = ("confluent-kafka",)


def make(name: str) -> Instruments:
    """A client library by name. ValueError, ImportError."""
    if name == "confluent-kafka":
        from .confluent import Confluent

        return Confluent()
    raise ValueError(f"no client {name!r}{nearest(name, CLIENTS)}")
