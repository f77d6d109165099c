"""Runs cases with a client."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from ..clients import Client
from .case import Case, Outcome
from .lab import Lab
from .mechanisms import MECHANISMS

KAFKA: Final = "3.9"
"""The release that the report is about, and that the cluster acts as."""
_AT_ONCE: Final = 3
"""Cases wait most of their time."""


def run(client: Client, case: Case) -> Outcome:
    """One case, in a cluster of its own. TimeoutError when the mechanism could not be set up."""
    with Lab(client, case, KAFKA) as lab:
        return MECHANISMS[case.mechanism].run(lab)


def run_all(client: Client, cases: Sequence[Case]) -> Iterator[tuple[Case, Outcome]]:
    """In their order, several at a time."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        yield from zip(cases, pool.map(lambda case: run(client, case), cases), strict=True)
