"""Who else serves sockets in the same trio run: there, nobody blocks the thread to wait for more."""

from typing import Final, Protocol

import trio


class Beside(Protocol):
    """`has_clients` says whether the others should not wait."""

    @property
    def has_clients(self) -> bool: ...


_RUNNING: Final = trio.lowlevel.RunVar[list[Beside]]("serving")


def running() -> list[Beside]:
    """Those of this trio run: who begins adds itself, and removes itself in the end."""
    try:
        return _RUNNING.get()
    except LookupError:
        found: list[Beside] = []
        _RUNNING.set(found)
        return found


def has_all_clients(one: Beside, beside: list[Beside]) -> bool:
    """Whether the others of them have none."""
    return len(beside) == 1 or not any(each.has_clients for each in beside if each is not one)
