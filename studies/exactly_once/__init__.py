"""Exactly-once applications (consume, transform, produce) with real clients, through seeded faults."""

from typing import Final

from ..clients import chosen
from .application import Application
from .case import Case, Outcome
from .experiment import run

__all__ = ["APPLICATIONS", "Application", "Case", "Outcome", "make", "run"]

APPLICATIONS: Final = ("java-3.9", "java-4.4", "confluent-kafka", "aiokafka")


def make(name: str) -> Application:
    """The application in a client by name: `java-VERSION`, `confluent-kafka` or `aiokafka`.

    ValueError for other names; building.BuildError.
    """
    return Application(*chosen(name, *APPLICATIONS))
