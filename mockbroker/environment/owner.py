"""For whom something is done."""

from typing import Protocol


class Owner(Protocol):
    """A request that waits for a timer or an event, and ends when that raises."""

    def ended_by(self, error: Exception) -> None:
        """Answers for the request, which will get nothing else."""
