"""Who else serves sockets in the same thread: there, nobody blocks it to wait for more."""

from typing import Protocol


class Beside(Protocol):
    """`has_clients` says whether the others should not wait."""

    @property
    def has_clients(self) -> bool: ...


def has_all_clients(one: Beside, beside: list[Beside]) -> bool:
    """Whether the others of them have none."""
    return len(beside) == 1 or not any(each.has_clients for each in beside if each is not one)
