"""Real clients as instruments: driven from Python, reporting what they did."""

from typing import Final

from .consumer import Client, Commit, Consumer, Read

__all__ = ["Client", "Commit", "Consumer", "Read", "make"]

NEWEST: Final = {"2.8": "2.8.2", "3.9": "3.9.2", "4.4": "4.4.0"}
"""Versions of kafka-clients that are tried here."""


def make(name: str) -> Client:
    """A client by name: `java-3.9.2` (any version of kafka-clients from 2.8 on; `java-3.9` is the newest of
    its line that is known here), or `confluent-kafka`.

    ValueError for other names; building.BuildError, ImportError.
    """
    family, _, version = name.partition("-")
    if family == "java" and version:
        from .java import JavaClient

        return JavaClient(NEWEST.get(version, version))
    if name == "confluent-kafka":
        from .confluent import ConfluentClient

        return ConfluentClient()
    raise ValueError(f"no client {name!r}: choose confluent-kafka, or java-VERSION")
