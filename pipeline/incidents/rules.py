"""What may follow from what: each rule with the keys that have to be equal, and how long it takes."""

from collections.abc import Iterable, Iterator
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

_SET_BACK: Final = ("set-back", "out-of-range", "reset-to-earliest", "reset-to-latest")
_BEHIND: Final = ("lag-spike", "outflux-without-influx")
_SEQUENCES: Final = ("spurious-sequence-error", "lost-records")
_SHORTER: Final = ("truncation-gap", "log-end-fell")
_EPOCHS: Final = ("undefined-epoch", "unknown-epoch", "epoch-regression")
_REWOUND: Final = ("offset-rewind", "offset-lost")


class Rule(NamedTuple):
    """`cause` leads to `consequence`, if both have the same `keys`, within `within_ms`; with `topic`, if the
    cause is about that topic."""

    cause: str
    consequence: str
    keys: tuple[str, ...]
    within_ms: int
    why: str
    topic: str | None = None


def _rules() -> Iterator[Rule]:
    def leads(
        causes: Iterable[str], to: Iterable[str], keys: tuple[str, ...], within_ms: int, why: str
    ) -> Iterator[Rule]:
        told = list(to)
        for cause in causes:
            for consequence in told:
                yield Rule(cause, consequence, keys, within_ms, why)

    lossy = ("unclean-election", "cut-off-leader")
    yield from leads(lossy, _SHORTER, PARTITION, SOON_MS, "the other replicas removed what the leader lacked")
    yield from leads(lossy, (*_SET_BACK, *_EPOCHS), PARTITION, LATE_MS, "the new leader lacked what was read")
    yield from leads(lossy, _SEQUENCES, PARTITION, LATE_MS, "the new leader lacked what was acknowledged")
    yield from leads(lossy, ("offset-rewind", *_BEHIND), PARTITION, LATE_MS, "what was read is gone")
    yield from leads(lossy, ("follower-failure",), PARTITION, SOON_MS, "the logs of the replicas diverged")
    for cause in lossy:
        for rewound in _REWOUND:
            why = "the new leader lacked commits of groups"
            yield Rule(cause, rewound, ANYWHERE, EVER_MS, why, "__consumer_offsets")
    yield from leads(
        ("follower-log-lost",), lossy, ANYWHERE, LATE_MS, "a replica that began anew was elected"
    )
    yield from leads(("follower-log-lost",), ("follower-failure",), BROKER, LATE_MS, "its logs were gone")
    yield from leads(
        ("clock-stepped",), _SET_BACK, ANYWHERE, LATE_MS, "by the wrong clock, records were old enough to go"
    )
    yield from leads(
        ("clock-stepped",),
        ("producer-expired", "transactional-id-expired", "offset-lost"),
        ANYWHERE,
        LATE_MS,
        "by the wrong clock, it was old enough to expire",
    )
    yield from leads(
        ("topic-recreated",),
        (*_SET_BACK, *_SHORTER, *_EPOCHS, *_REWOUND, *_BEHIND, *_SEQUENCES),
        TOPIC,
        LATE_MS,
        "offsets, epochs and producers of the old topic mean nothing in the new one",
    )
    yield from leads(_SHORTER, _SET_BACK, PARTITION, LATE_MS, "the log was cut below the position")
    yield from leads(_SHORTER, _SEQUENCES, PARTITION, LATE_MS, "what was acknowledged was cut off")
    yield from leads(_EPOCHS, _SET_BACK, PARTITION, LATE_MS, "the position could not be validated")
    yield from leads(
        ("log-start-past-log-end",),
        ("follower-failure", "out-of-range", "reset-to-earliest"),
        PARTITION,
        LATE_MS,
        "the follower had nothing from that offset on",
    )
    yield from leads(
        ("log-start-past-log-end",), ("follower-failure",), BROKER, SOON_MS, "one fetcher serves them all"
    )
    yield from leads(
        ("coordinator-moved-while-loading",),
        lossy,
        PARTITION,
        SOON_MS,
        "it went on as leader when it came back",
    )
    yield from leads(
        ("cleaner-stopped",),
        ("slow-load", "load-ended-early", "tombstone-of-live-group"),
        BROKER,
        EVER_MS,
        "the offsets topic grew, because nothing was compacted",
    )
    yield from leads(
        ("slow-load", "load-ended-early"),
        ("tombstone-of-live-group", *_REWOUND),
        ANYWHERE,
        EVER_MS,
        "the coordinator had read only a part of the offsets topic",
    )
    yield from leads(("tombstone-of-live-group",), _REWOUND, GROUP, EVER_MS, "its last commit was deleted")
    yield from leads(
        ("offset-lost", "offset-rewind"), _SET_BACK, GROUP, SOON_MS, "there was no valid offset to begin with"
    )
    yield from leads(
        ("admin-reset",),
        ("offset-rewind", *_BEHIND),
        GROUP,
        EVER_MS,
        "it goes on from the offset that was set",
    )
    yield from leads(
        (*_SET_BACK, *_REWOUND), _BEHIND, GROUP, LATE_MS, "from there everything has to be read again"
    )
    yield from leads(_SET_BACK, ("offset-rewind",), GROUP, SOON_MS, "it commits from where it was set to")
    yield from leads(("producer-expired",), _SEQUENCES, PRODUCER, LATE_MS, "nobody knew its last sequence")
    yield from leads(("hanging-transaction",), ("lag-spike",), PARTITION, EVER_MS, "nothing more is stable")


RULES: Final = tuple(_rules())
