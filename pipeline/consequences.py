"""What may follow from what: rules with the keys that have to be equal, and how long it takes."""

from collections.abc import Iterable
from typing import Final, NamedTuple

SOON_MS: Final = 120_000
"""Clients notice when they fetch next, or when they are told of a new leader."""
LATE_MS: Final = 3_600_000
"""A group notices when a member takes over, and a producer when it writes again."""
EVER_MS: Final = 14 * 24 * 3_600_000
"""What a coordinator or a cleaner lost is noticed when somebody asks for it."""

PARTITION: Final = ("topic", "partition")
TOPIC: Final = ("topic",)
GROUP: Final = ("group", "topic", "partition")
PRODUCER: Final = ("producer_id", "topic", "partition")
BROKER: Final = ("broker",)
ANYWHERE: Final = ()

SET_BACK: Final = ("set-back", "out-of-range", "reset-to-earliest", "reset-to-latest")
BEHIND: Final = ("lag-spike", "outflux-without-influx")
SEQUENCES: Final = ("spurious-sequence-error", "lost-records")
SHORTER: Final = ("truncation-gap", "log-end-fell")
EPOCHS: Final = ("undefined-epoch", "epoch-regression")
REWOUND: Final = ("offset-rewind", "offset-lost")
LOSSY: Final = ("unclean-election", "cut-off-leader")
TO_USERS: Final = (*SET_BACK, *SHORTER, *EPOCHS, *REWOUND, *BEHIND, *SEQUENCES)
"""Signatures that follow from the same, or to which the same leads."""
_OFFSETS: Final = "__consumer_offsets"


class Rule(NamedTuple):
    """`cause` leads to `consequence`, if both have the same `keys`, within `within_ms`; with `topic`, if the
    cause is about that topic."""

    cause: str
    consequence: str
    keys: tuple[str, ...]
    within_ms: int
    why: str
    topic: str | None = None


def leads(
    causes: Iterable[str],
    to: Iterable[str],
    keys: tuple[str, ...],
    within_ms: int,
    why: str,
    topic: str | None = None,
) -> list[Rule]:
    """A rule for each cause and each consequence."""
    consequences = list(to)
    return [Rule(cause, each, keys, within_ms, why, topic) for cause in causes for each in consequences]


def of_loss(cause: str) -> list[Rule]:
    """What a leader without some of the records leads to."""
    causes = (cause,)
    return [
        *leads(causes, SHORTER, PARTITION, SOON_MS, "the other replicas removed what the leader lacked"),
        *leads(causes, (*SET_BACK, *EPOCHS), PARTITION, LATE_MS, "the new leader lacked what was read"),
        *leads(causes, SEQUENCES, PARTITION, LATE_MS, "the new leader lacked what was acknowledged"),
        *leads(causes, ("offset-rewind", *BEHIND), PARTITION, LATE_MS, "what was read is gone"),
        *leads(causes, ("follower-failure",), PARTITION, SOON_MS, "the logs of the replicas diverged"),
        *leads(causes, REWOUND, ANYWHERE, EVER_MS, "the new leader lacked commits of groups", _OFFSETS),
    ]
