"""How often a seed chooses what."""

from dataclasses import dataclass
from typing import Final

from .consumer_setting import Commit, Reset
from .plan import BOTH, COMPACT
from .producer_setting import Generation

Range = tuple[int, int]
"""From the first to the second, both included."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What a seed draws from, by the name that is printed: a share of seeds, a range, or values that are
    equally likely. Times are in ms; other ranges say how many steps of a kind there are."""

    length_ms: Range = (3_000, 12_000)
    produces: Range = (4, 16)
    steps: Range = (3, 14)

    # Clients.
    commit: tuple[Commit, ...] = tuple(Commit)
    reset: tuple[Reset, ...] = tuple(Reset)
    generation: tuple[Generation, ...] = (
        Generation.PLAIN,
        Generation.V0_11,
        Generation.V1_0,
        Generation.V2_5,
    )
    acks_all: float = 0.8
    in_flight: tuple[int, ...] = (1, 5)
    commit_rate: tuple[float, ...] = (0.1, 0.5, 1.0)
    purges: float = 0.3
    even: float = 0.4
    """Of all batches having `even_count` records: one is only mistaken for another if it has as many."""
    even_count: tuple[int, ...] = (1, 2)
    troubled: float = 0.5
    troubles: Range = (1, 6)
    """Of producers."""

    # Brokers and topics.
    second_topic: float = 0.2
    unclean: float = 0.3
    two_in_sync: float = 0.3
    delay_ms: tuple[int, ...] = (2, 10, 60)
    replica_fetch_bytes: tuple[int, ...] = (150, 1 << 20)
    slowed: Range = (1, 4)

    # Transactions.
    transactional: float = 0.2
    transaction_timeout_ms: tuple[int, ...] = (1_500, 60_000)
    read_committed: float = 0.5
    ends: Range = (2, 8)
    instances: Range = (0, 2)
    second_produces: Range = (4, 16)

    # Compacted topics.
    compacted: float = 0.15
    cleanup: tuple[str, ...] = (COMPACT, BOTH)
    delete_retention_ms: tuple[int, ...] = (300, 60_000)
    cleanings: Range = (3, 12)

    # The offsets topic.
    idle_ms: Range = (46_000, 58_000)
    more_ms: Range = (3_000, 12_000)
    later_produces: Range = (2, 8)
    later_rebalances: Range = (1, 4)
    coordinator_moves: Range = (1, 5)
    newer_commits: Range = (1, 2)

    # A group whose coordinator assigns partitions.
    members: Range = (2, 4)
    partitions: tuple[int, ...] = (1, 2, 3)
    static: float = 0.3
    assignor: tuple[str, ...] = ("", "", "uniform", "range")
    """Of each member; "" for none of its own choice."""
    feeds: Range = (8, 24)
    member_troubles: Range = (3, 12)

    # A share group.
    sharers: Range = (2, 4)
    share_partitions: tuple[int, ...] = (1, 2, 3)
    share_latest: float = 0.3
    deliveries: tuple[int, ...] = (2, 3, 5)
    lock_ms: tuple[int, ...] = (1_000, 2_000)
    share_records: tuple[int, ...] = (1, 3, 500)
    strict: float = 0.3
    implicit: float = 0.2
    poison: float = 0.3
    share_feeds: Range = (8, 24)
    share_troubles: Range = (3, 12)
    rests: Range = (0, 2)
    """How often all members leave."""
    muted: float = 0.4
    """Of these times, how often one of them goes on reading, which only the coordinator knows."""
    altered: tuple[int, ...] = (0, 1, 2)
    """How often the group is told to begin anew then."""
    altered_twice: float = 0.2
    """How often it is told so twice, while a member that nobody counts any more reads on."""
    fed_meanwhile: Range = (6, 12)


WEIGHTS: Final = Weights()
