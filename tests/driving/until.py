"""Waits for a condition."""

import time
from collections.abc import Callable


def until(done: Callable[[], bool], what: str, limit_s: float = 30.0, pace_s: float = 0.05) -> None:
    """Asks every `pace_s` seconds. TimeoutError if it takes longer than `limit_s`."""
    limit = time.monotonic() + limit_s
    while not done():
        if time.monotonic() > limit:
            raise TimeoutError(f"waited in vain for {what}")
        time.sleep(pace_s)
