"""Changes of the bytes of requests."""

import random
from dataclasses import replace
from typing import Any, Final

from ....rig.client import key_of
from ..steps import ASIDE, Step
from .world import Versions

_BYTES: Final = (0x00, 0x01, 0x02, 0x7F, 0x80, 0xFE, 0xFF)
_HEADER: Final = 8
_REACH: Final = 120
_NOT_COMPARED: Final = frozenset({"api_versions", "describe_log_dirs"})


def spoiled(rng: random.Random, steps: tuple[Step, ...], versions: Versions) -> tuple[Step, ...]:
    """Some of the steps, one at least, with bytes changed behind the request header's fixed part.

    The first step, which creates topics, stays as it is. An API key becomes that of another API that both
    brokers have (`versions`).
    """
    keys = sorted(key_of(api) for api, known in versions.items() if known and api not in _NOT_COMPARED)
    made = list(steps)
    asked = [at for at in range(1, len(steps)) if steps[at].api not in ASIDE]
    places = [at for at in asked if rng.random() < 0.25] or asked[-1:]
    for at in places:
        made[at] = replace(
            made[at], mutations=tuple(_mutation(rng, keys) for _ in range(rng.choice((1, 1, 1, 2))))
        )
    return tuple(made)


def _mutation(rng: random.Random, keys: list[int]) -> tuple[Any, ...]:
    at = rng.randrange(_HEADER, _HEADER + rng.choice((20, 50, _REACH)))
    match rng.randrange(9):
        case 0 | 1:
            return ("set", at, rng.choice(_BYTES))
        case 2:
            return ("flip", at, 1 << rng.randrange(8))
        case 3:
            return ("cut", rng.choice((1, 2, 4, 8, 30)))
        case 4:
            return ("drop", at, rng.choice((1, 2, 4)))
        case 5:
            return ("insert", at, rng.choice(("00", "01", "ff", "0000", "ffffffff", "80")))
        case 6:
            return ("append", rng.choice(("00", "01", "ff", "00000000", "ff" * 8)))
        case 7:
            return ("set", 3, rng.randrange(20)) if rng.random() < 0.5 else ("set", 1, rng.choice(keys))
        case _:
            return ("set", at, rng.randrange(256))
