"""Looks for what comes next without sleeping, for as long as that pays."""

from collections.abc import Callable
from typing import Final

Poll = Callable[[float, int], list[tuple[int, int]]]

LOOKS: Final = 256
"""Some 0.1 ms: clients that send their next request at once do so within that."""
MOST_CREDIT: Final = 8
SLEEPS: Final = 64
"""How often it sleeps, after looking was in vain, before it looks again."""


class Looking:
    """To be woken costs a process as much as some requests do, and its client waits for it. It does not look
    while clients take longer than LOOKS, or have no processor meanwhile: two looks have to be of use for one
    that is in vain.
    """

    __slots__ = ("_credit", "_poll", "_sleeps")

    def __init__(self, poll: Poll) -> None:
        self._poll = poll
        self._credit = self._sleeps = 0

    def wait(self, seconds: float, most: int) -> list[tuple[int, int]]:
        """As `Poller.poll`."""
        poll = self._poll
        if self._sleeps:
            self._sleeps -= 1
            return poll(seconds, most)
        for _ in range(LOOKS):
            if events := poll(0, most):
                if self._credit < MOST_CREDIT:
                    self._credit += 1
                return events
        self._credit -= 2
        if self._credit < 0:
            self._credit, self._sleeps = 0, SLEEPS
        return poll(seconds, most)
