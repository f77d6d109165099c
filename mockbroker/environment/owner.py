"""The request on whose behalf something is done."""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from .environment import Environment


class Owner(Protocol):
    """A request that waits for a timer or an event, and ends if that raises."""

    def ended_by(self, error: Exception) -> None:
        """Answers the request, which will get no other answer."""


class Nobody:
    """The owner of what is done in parts without a request that waits for it: an error is the cluster's."""

    gone = False

    def __init__(self, environment: "Environment") -> None:
        self._environment = environment

    def answer(self, response: object) -> None:
        """Nobody waits for it."""

    def ended_by(self, error: Exception) -> None:
        self._environment.fail(error, None)
