"""Processes that end with the one that has started them."""

import subprocess
from typing import Final

# It reads until the other end of the pipe is closed, which is so at the latest when this process is gone.
_GUARD: Final = ("sh", "-c", "read _; kill -KILL 0")


class EndingTogether:
    """A process group, for `subprocess.Popen(process_group=...)`. All that is in it is killed when this
    process ends, also by a signal that it can't catch."""

    def __init__(self) -> None:
        self._guard = subprocess.Popen(_GUARD, stdin=subprocess.PIPE, process_group=0)

    @property
    def id(self) -> int:
        return self._guard.pid

    def close(self) -> None:
        """From now on nobody guards the group."""
        self._guard.kill()
        self._guard.communicate()
