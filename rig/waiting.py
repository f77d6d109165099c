"""Waits for what a client or a cluster does in another thread."""

import time
from collections.abc import Callable
from typing import Final

LIMIT_S: Final = 30.0


def wait_for(what: str, condition: Callable[[], bool], limit_s: float = LIMIT_S) -> None:
    """Polls `condition`. TimeoutError names `what` did not come."""
    end = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.005)
