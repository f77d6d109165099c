"""Progress of a command that takes long, on stderr."""

import sys
import time
from collections.abc import Callable
from typing import Final

SECONDS: Final = 5.0


def now_and_then(
    command: str, seconds: float = SECONDS, clock: Callable[[], float] = time.monotonic
) -> Callable[[str], None]:
    """A function that writes a line, unless it has written one less than so many seconds ago."""
    told = clock()

    def tell(what: str) -> None:
        nonlocal told
        now = clock()
        if now - told >= seconds:
            told = now
            sys.stderr.write(f"mockbroker {command}: {what}\n")
            sys.stderr.flush()

    return tell
