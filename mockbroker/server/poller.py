"""Readiness of sockets: epoll on Linux, the platform's equivalent elsewhere."""

import select
import selectors
from collections.abc import Callable
from typing import Final, Protocol

READ = 1
WRITE = 4
SOCKETS_PER_LOOK: Final = 64
TURN_SECONDS: Final = 0.002
"""How long who polls goes on before other trio tasks get their turn."""
LOOKS: Final = 256
"""Some 0.1 ms: clients that send their next request at once do so within that."""
MOST_CREDIT: Final = 8
SLEEPS: Final = 64
"""How often it sleeps, after looking was in vain, before it looks again."""


class Poller(Protocol):
    """`poll` returns (file descriptor, READ | WRITE); an error or hang-up counts as both.

    It may return no more than `most` of the ready ones, and the others the next time.
    """

    def fileno(self) -> int: ...
    def watch(self, fd: int, events: int) -> None: ...
    def change(self, fd: int, events: int) -> None: ...
    def forget(self, fd: int) -> None: ...
    def poll(self, seconds: float, most: int) -> list[tuple[int, int]]: ...
    def close(self) -> None: ...


class EpollPoller:
    """Linux."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self.fileno = self._epoll.fileno
        self.watch = self._epoll.register
        self.change = self._epoll.modify
        self.forget = self._epoll.unregister
        self.poll = self._epoll.poll
        self.close = self._epoll.close


class SelectorPoller:
    """macOS and the BSDs (kqueue)."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self.close = self._selector.close

    def fileno(self) -> int:
        return self._selector.fileno()

    def watch(self, fd: int, events: int) -> None:
        # A selector can't have an empty set of events, so a connection that waits for nothing is left out.
        if events:
            self._selector.register(fd, _to_selector(events))

    def change(self, fd: int, events: int) -> None:
        self.forget(fd)
        self.watch(fd, events)

    def forget(self, fd: int) -> None:
        if fd in self._selector.get_map():
            self._selector.unregister(fd)

    def poll(self, seconds: float, most: int) -> list[tuple[int, int]]:
        return [(key.fd, _from_selector(events)) for key, events in self._selector.select(seconds)]


class Looking:
    """To be woken costs a process as much as some requests do, and its client waits for it. It does not look
    while clients take longer than LOOKS, or have no processor meanwhile: two looks have to be of use for one
    that is in vain. It sleeps for no longer than `seconds_left` says.
    """

    __slots__ = ("_credit", "_poll", "_seconds_left", "_sleeps")

    def __init__(
        self, poll: Callable[[float, int], list[tuple[int, int]]], seconds_left: Callable[[], float]
    ) -> None:
        self._poll = poll
        self._seconds_left = seconds_left
        self._credit = self._sleeps = 0

    def wait(self, seconds: float, most: int) -> list[tuple[int, int]]:
        """As `Poller.poll`."""
        poll = self._poll
        if self._sleeps:
            self._sleeps -= 1
            return poll(min(seconds, self._seconds_left()), most)
        for _ in range(LOOKS):
            if events := poll(0, most):
                if self._credit < MOST_CREDIT:
                    self._credit += 1
                return events
        self._credit -= 2
        if self._credit < 0:
            self._credit, self._sleeps = 0, SLEEPS
        return poll(min(seconds, self._seconds_left()), most)


def _to_selector(events: int) -> int:
    return (selectors.EVENT_READ if events & READ else 0) | (selectors.EVENT_WRITE if events & WRITE else 0)


def _from_selector(events: int) -> int:
    return (READ if events & selectors.EVENT_READ else 0) | (WRITE if events & selectors.EVENT_WRITE else 0)


def new_poller() -> Poller:
    return EpollPoller() if hasattr(select, "epoll") else SelectorPoller()
