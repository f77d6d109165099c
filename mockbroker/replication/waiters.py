"""Callbacks for when something happens."""

from collections.abc import Callable
from typing import TypeVar

C = TypeVar("C", bound=Callable[..., None])


class Waiters(dict[C, None]):
    """Callbacks in the order in which they were added: the order of a set would change from run to run."""

    __slots__ = ()

    def add(self, callback: C) -> None:
        self[callback] = None

    def discard(self, callback: C) -> None:
        self.pop(callback, None)
