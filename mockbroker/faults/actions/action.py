"""What an action is, and the table of actions."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, Literal, TypeVar

from ...protocol.api_keys import ApiKey
from ..exchange import Exchange
from ..match import FaultError, Match, is_int

if TYPE_CHECKING:
    from ...cluster.cluster import Cluster

When = Literal["before", "after", "instead"]

A = TypeVar("A", bound="type[Action]")
ACTIONS: Final[dict[str, "type[Action]"]] = {}
"""By the name that users write."""


@dataclass
class Action(ABC):
    """A subclass's fields are what users may set, besides those of `Match`."""

    when: ClassVar[tuple[When, ...]] = ("before", "after")
    """When it may act; the first is the default."""
    usual_api: ClassVar[ApiKey | None] = None
    """Whose requests it is for, if its user gives no `api`; None means any."""
    holds: ClassVar[bool] = False
    unlike: ClassVar[str] = ""
    """Why no broker does so; empty if some may."""

    @abstractmethod
    def apply(self, exchange: Exchange, match: Match, when: When) -> bool:
        """Acts on the exchange; returns False if the request waits from now on, and continues by
        `exchange.go_on`."""

    def nothing_to_do(self, exchange: Exchange, match: Match) -> str:
        """Why it would change nothing at the moment; empty if it would change something."""
        return ""

    def illegal(self, match: Match) -> str:
        """Why no broker does so to any of the requests that may match, or to one that came; empty if some
        may."""
        return self.unlike

    def check(self, match: Match) -> None:  # noqa: B027
        """FaultError for values that are not valid."""

    def prepare(self, cluster: "Cluster") -> None:  # noqa: B027
        """Called once, when the fault is added. FaultError for what the cluster does not have."""

    def needs_answer(self, api: ApiKey) -> bool:
        """Whether it acts on a real answer, though it is not `after` the work."""
        return False


def action(name: str) -> Callable[[A], A]:
    """Gives an action the name that users write."""

    def register(kind: A) -> A:
        ACTIONS[name] = kind
        return kind

    return register


MOST: Final = (1 << 31) - 1
"""The largest number that fits in Kafka's fields for times and sizes."""


def check_number(name: str, value: object, least: int = 0) -> None:
    """FaultError for anything but a whole number from `least` to MOST."""
    if not is_int(value) or not least <= value <= MOST:
        raise FaultError(f"{name} is {value!r}: give a number, {least} or more, and {MOST} at most", name)
