"""Who is to be called when something happens."""

from collections.abc import Callable
from typing import TypeVar

C = TypeVar("C", bound=Callable[..., None])


class Waiters(dict[C, None]):
    """Callbacks in the order in which they came: a set's order would change from run to run."""

    __slots__ = ()

    def add(self, callback: C) -> None:
        self[callback] = None

    def discard(self, callback: C) -> None:
        self.pop(callback, None)
