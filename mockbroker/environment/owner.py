"""The request on whose behalf something is done."""

from typing import Protocol


class Owner(Protocol):
    """A request that waits for a timer or an event, and ends if that raises."""

    def ended_by(self, error: Exception) -> None:
        """Answers the request, which will get no other answer."""
