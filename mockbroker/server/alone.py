"""Runs a pump in a process that does nothing else.

It does without trio, which takes as long to import as everything else takes until brokers are ready.
"""

import contextlib
import math
import select
import signal
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .pump import Pump


class Ending(NamedTuple):
    """What ends the process: once `fd` is readable, `over` says whether it does."""

    fd: int
    over: Callable[[], bool]


class Regular:
    """What is called every so many seconds; unless it `wakes` the process, not while that sleeps."""

    def __init__(self, seconds: float, call: Callable[[], object], *, wakes: bool = True) -> None:
        self._seconds = seconds
        self._call = call
        self._wakes = wakes
        self._due = time.monotonic() + seconds

    @property
    def seconds_left(self) -> float:
        """Until the process has to be awake."""
        return self._due - time.monotonic() if self._wakes else math.inf

    def call_if_due(self) -> None:
        if self._due <= time.monotonic():
            self._call()
            self._due = time.monotonic() + self._seconds


@contextlib.contextmanager
def ended_by(signals: Sequence[signal.Signals]) -> Iterator[Ending]:
    """In the block these signals do nothing but end `pumped`. To be called in the main thread."""
    readable, writable = socket.socketpair()
    with readable, writable:
        writable.setblocking(False)
        woken = signal.set_wakeup_fd(writable.fileno(), warn_on_full_buffer=False)
        before = {each: signal.signal(each, lambda *_: None) for each in signals}
        try:
            yield Ending(readable.fileno(), lambda: True)
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)
            signal.set_wakeup_fd(woken)


def pumped(pump: "Pump", endings: Sequence[Ending], regulars: Sequence[Regular]) -> None:
    """Pumps until one of `endings` is over, and calls what is to be called regularly."""
    pump.beside = [pump]
    over = {each.fd: each.over for each in endings}
    while True:
        seconds = 0.0
        if not pump.turn():
            seconds = max(0.0, min(pump.seconds_left(), *(each.seconds_left for each in regulars)))
        ready, _, _ = select.select([pump.fileno(), *over], (), (), seconds)
        if any(over[fd]() for fd in ready if fd in over):
            return
        for each in regulars:
            each.call_if_due()
