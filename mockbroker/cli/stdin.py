"""`--until-stdin-closes`: whoever started this process holds the other end of its stdin, and lets go of it
when it ends, even if it was killed."""

import os
import select
from typing import Final

from ..server.alone import Ending

_STDIN: Final = 0
_MOST: Final = 65536


def check_open() -> None:
    """ValueError if stdin is closed already: nobody would notice that nobody holds it."""
    if not _is_open():
        raise ValueError(
            "stdin is closed already, so --until-stdin-closes would end the cluster at once: start "
            "mockbroker with a pipe as its stdin, and keep the other end open"
        )


def closing() -> Ending:
    """That nobody holds the other end. What is written to it is not looked at."""
    return Ending(_STDIN, lambda: not os.read(_STDIN, _MOST))


async def closed() -> None:
    """Until nobody holds the other end."""
    import trio

    # A thread, since not everything that may be stdin can be waited for in trio; it ends with the process.
    while await trio.to_thread.run_sync(os.read, _STDIN, _MOST, abandon_on_cancel=True):
        pass


def _is_open() -> bool:
    try:
        readable, _, _ = select.select([_STDIN], [], [], 0)
        return not readable or bool(os.read(_STDIN, _MOST))
    except OSError:
        return False
