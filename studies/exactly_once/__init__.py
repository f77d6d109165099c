"""Exactly-once applications (consume, transform, produce) with real clients, through seeded faults."""

from typing import Final

from ..clients import NEWEST
from .case import Case, Outcome
from .experiment import Application, run

__all__ = ["APPLICATIONS", "Application", "Case", "Outcome", "make", "run"]

APPLICATIONS: Final = ("java-3.9", "java-4.4", "confluent-kafka", "aiokafka")


def make(name: str) -> Application:
    """The application in a client by name: `java-VERSION`, `confluent-kafka` or `aiokafka`.

    ValueError for other names; building.BuildError, ImportError.
    """
    family, _, version = name.partition("-")
    if family == "java" and version:
        from .java import JavaApplication

        return JavaApplication(NEWEST.get(version, version))
    if name == "confluent-kafka":
        from .confluent import ConfluentApplication

        return ConfluentApplication()
    if name == "aiokafka":
        from .aio import AioApplication

        return AioApplication()
    raise ValueError(f"no client {name!r}: choose one of {', '.join(APPLICATIONS)}, or another java-VERSION")
