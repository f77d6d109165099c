"""What a broker asks of others: leaders of what it follows, its followers, the controller."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from .fetcher import Fetcher
    from .partition import Partition


class Peers(Protocol):
    """The way to other brokers and to the controller. None where nobody answers."""

    def reaches(self, broker: int) -> bool:
        """Whether the network lets it through."""

    def leader_of(self, partition: "Partition") -> "Partition | None":
        """The partition at the broker that leads it, as far as who asks knows."""

    def fetcher_of(self, partition: "Partition", broker: int) -> "Fetcher | None":
        """What a follower does, at its broker."""

    def alter_isr(self, partition: "Partition", isr: Sequence[int]) -> bool:
        """The leader asks the controller for another ISR (AlterPartition, KIP-497); False when it does not
        reach it, or is refused."""

    def leads(self, partition: "Partition") -> None:
        """Followers that wait for this leader may fetch."""

    def leadership_changed(self, partition: "Partition") -> None:
        """The broker leads the partition now, or leads it no more."""

    def halt(self) -> None:
        """The broker exits, once the core is done with what it is at."""
