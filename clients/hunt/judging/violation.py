"""What an invariant says was violated."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Violation:
    """`invariant` is its name; `at` are the numbers of the entries of the journal that show it."""

    invariant: str
    user: str
    what: str
    at: tuple[int, ...] = ()

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.invariant, self.user, self.what)))
