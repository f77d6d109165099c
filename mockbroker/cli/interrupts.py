"""Ctrl-C, where what was done so far is told or kept."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

EXIT_STATUS = 130
"""As shells have it for what SIGINT ended."""


class Interrupt:
    """Whether there was one."""

    def __init__(self) -> None:
        self.came = False


@contextmanager
def noted() -> Iterator[Interrupt]:
    """The first Ctrl-C is noted, for a loop that looks; a second one raises KeyboardInterrupt."""
    interrupt = Interrupt()
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return

    def note(*_: object) -> None:
        interrupt.came = True
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, before)
