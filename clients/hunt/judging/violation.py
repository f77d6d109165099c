"""What an invariant says was violated."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Violation:
    """`invariant` is its name; `at` are the numbers of the entries of the journal that show it; `cause` is
    what tells it from others of its invariant, if that is not the name of an error in `what`."""

    invariant: str
    user: str
    what: str
    at: tuple[int, ...] = ()
    cause: str = ""

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.invariant, self.user, self.what)))
