"""Real clients as instruments: driven from Python, reporting what they did."""

from .consumer import Client, Commit, Consumer, Read
from .library import Library, chosen

__all__ = ["Client", "Commit", "Consumer", "Library", "Read", "chosen", "make"]


def make(name: str) -> Client:
    """A client by name: `java-VERSION` or `confluent-kafka`. ValueError, building.BuildError."""
    return Client(*chosen(name, "confluent-kafka"))
