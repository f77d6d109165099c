"""What an incident is not: others that look alike, and whether the files could tell."""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from .model import CERTAIN, Finding, Incident

Count = Callable[[str, str | None, int | None], int]
"""How many rows of a kind there are of a topic and a partition; of None, of all."""


class Alike(NamedTuple):
    """`signatures` would have been found in rows of `kinds`, `named` in a sentence."""

    named: str
    signatures: tuple[str, ...]
    kinds: tuple[str, ...]
    rows: str


_UNCLEAN: Final = Alike(
    "an unclean election", ("unclean-election",), ("leader",), "elections and leader epochs"
)
_CUT_OFF: Final = Alike("a leader that was cut off", ("cut-off-leader",), ("in-sync-replicas",), "the ISR")
_SHORTER: Final = Alike(
    "a truncation",
    ("truncation-gap", "log-end-fell"),
    ("truncation", "high-watermark"),
    "truncations and high watermarks",
)
_RECREATED: Final = Alike(
    "a topic that was created anew", ("topic-recreated",), ("log",), "logs and topics that were created"
)
_EPOCH: Final = Alike(
    "an epoch that nobody knows",
    ("undefined-epoch", "unknown-epoch"),
    ("epoch-answer",),
    "answers about epochs",
)
_LOAD: Final = Alike(
    "a load that ended early", ("load-ended-early", "slow-load"), ("load",), "loads of coordinators"
)
_TOMBSTONE: Final = Alike(
    "a commit that was deleted too early", ("tombstone-of-live-group",), ("tombstone",), "the offsets topic"
)
_EXPIRED: Final = Alike(
    "a producer that was forgotten", ("producer-expired",), ("append",), "batches in the log"
)
_OF_ALL: Final = (_LOAD,)
"""What is not about the partition to which it happened."""
_ALIKE: Final[dict[str, tuple[Alike, ...]]] = {
    "unclean-election": (_CUT_OFF,),
    "cut-off-leader": (_UNCLEAN,),
    **dict.fromkeys(
        ("set-back", "out-of-range", "reset-to-earliest", "reset-to-latest"),
        (_UNCLEAN, _CUT_OFF, _SHORTER, _RECREATED, _EPOCH),
    ),
    **dict.fromkeys(("truncation-gap", "log-end-fell"), (_UNCLEAN, _CUT_OFF, _RECREATED)),
    **dict.fromkeys(("offset-rewind", "offset-lost"), (_LOAD, _TOMBSTONE, _UNCLEAN, _SHORTER, _RECREATED)),
    **dict.fromkeys(("lost-records", "spurious-sequence-error"), (_UNCLEAN, _SHORTER, _EXPIRED)),
    "tombstone-of-live-group": (_LOAD,),
    "topic-recreated": (_UNCLEAN, _SHORTER),
    "follower-log-lost": (_UNCLEAN,),
}


def rule_out(incident: Incident, found: Iterable[Finding], count: Count) -> Iterator[str]:
    """A sentence for each other incident that would look alike, and that none of the `found` shows.

    What can't be told is said only of an incident that is not certain.
    """
    cause = incident.cause
    topic, partition = cause["topic"], cause["partition"]
    seen = {each["signature"] for each in found if each["topic"] in (None, topic)}
    for alike in _ALIKE.get(incident.name, ()):
        if not seen.isdisjoint(alike.signatures):
            continue
        about = (None, None) if alike in _OF_ALL else (topic, partition)
        if rows := sum(count(kind, *about) for kind in alike.kinds):
            of_rows = f"none of the {rows:,} rows" if rows > 1 else "the only row"
            yield f"not {alike.named}: {of_rows} about {alike.rows} shows {'one' if rows > 1 else 'none'}"
        elif incident.confidence != CERTAIN:
            yield f"perhaps {alike.named}: the files say nothing about {alike.rows}"


def counter(folder: Path) -> Count:
    """Counts in a folder of observations."""
    import pyarrow.dataset as ds

    @cache
    def count(kind: str, topic: str | None, partition: int | None) -> int:
        rows = folder / f"kind={kind}"
        if not rows.exists():
            return 0
        chosen = ds.scalar(True)
        for name, value in (("topic", topic), ("partition", partition)):
            if value is not None:
                chosen = chosen & (ds.field(name) == value)
        return int(ds.dataset(rows, format="parquet").count_rows(filter=chosen))

    return count
