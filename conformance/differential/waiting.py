"""Waiting until something is so."""

import time
from collections.abc import Callable
from typing import Final

_LIMIT_S: Final = 5.0
_PAUSE_S: Final = 0.005


def until(holds: Callable[[], bool], limit_s: float = _LIMIT_S) -> bool:
    """Whether it is so in time."""
    limit = time.monotonic() + limit_s
    while not holds():
        if time.monotonic() > limit:
            return False
        time.sleep(_PAUSE_S)
    return True
