"""Ctrl-C for commands that then report or keep what was done so far."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

EXIT_STATUS = 130
"""What shells return for a command that SIGINT ended."""


class Interrupt:
    """Whether there was a Ctrl-C."""

    def __init__(self) -> None:
        self.came = False


@contextmanager
def noted() -> Iterator[Interrupt]:
    """Only records the first Ctrl-C, for a loop that checks it; a second one raises KeyboardInterrupt."""
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
