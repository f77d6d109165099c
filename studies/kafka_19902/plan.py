"""Which cases there are for a client."""

from collections.abc import Iterator
from itertools import product
from typing import Final

from mockbroker.policies import CATALOGUE

from ..clients import Commit
from .case import BELOW_FIRST, UNDEFINED_EPOCH, Case
from .mechanisms import Mechanism
from .settings import SETTINGS

RESETS: Final = ("earliest", "latest", "none")
ANSWERS: Final = tuple(product(CATALOGUE[UNDEFINED_EPOCH].answers, CATALOGUE[BELOW_FIRST].answers))
"""Every pair of answers to the two behaviours, Kafka's first."""


def cases(mechanism: Mechanism, commits: tuple[Commit, ...], *, thorough: bool = True) -> Iterator[Case]:
    """All of a mechanism; without the settings and the broker's other answers if not `thorough`."""
    for commit in commits if mechanism.follows_commit else commits[:1]:
        for reset in RESETS:
            yield Case(mechanism.key, commit, reset)
        if thorough:
            for (undefined, below), reset in product(ANSWERS[1:], RESETS):
                yield Case(mechanism.key, commit, reset, undefined, below)
            for setting, reset in product(SETTINGS, RESETS):
                if setting not in mechanism.by_chance:
                    yield Case(mechanism.key, commit, reset, setting=setting)
