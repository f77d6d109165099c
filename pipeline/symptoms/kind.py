"""What a kind of symptom is, and words for telling it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from ..ledgers import Note

HALF_A_MINUTE_MS: Final = 30_000
MINUTE_MS: Final = 60_000
"""The default of `transaction.timeout.ms`, after which a coordinator aborts."""
TEN_MINUTES_MS: Final = 600_000
LASTING: Final = (
    *("no-leader", "broker-died", "broker-fenced", "broker-shut-down", "loading"),
    "reassignment",
)
"""Notes that have no end if the files don't tell it."""
STILL: Final = "still so at the end"
UNREAD: Final = "unread"
"""The detail of a partition of which a group commits nothing, although it goes on in others."""

THROTTLED: Final = "throttled"
"""The detail of a lag that grows while a client of the group is throttled."""


@dataclass(frozen=True, slots=True)
class Kind:
    """`of` is what a ledger noted, and `noticed` whether somebody would notice it. `causes` are where what
    caused it would be told, each one of `signature.NEEDS`; `wide` if it may be told of the group's or the
    producer's other partitions, or of none; `of_partition` if it is not about a group. `of_broker` is what
    may have led to an incident instead of following from it."""

    name: str
    of: str
    what: str
    told: Callable[[Note], str]
    causes: Sequence[str]
    noticed: Callable[[Note], bool] = lambda _: True
    wide: bool = False
    of_partition: bool = False
    of_broker: bool = False


def at(note: Note) -> str:
    return f"{note.topic}-{note.partition}"


def who(note: Note) -> str:
    if note.group is not None:
        return f"group {note.group}"
    return "a consumer" if note.client is None else f"client {note.client}"


def took_ms(note: Note) -> int:
    return (note.to_ms or 0) - (note.from_ms or 0)


def took(note: Note) -> str:
    return f"{took_ms(note) // 1000} s"


def lasts(least_ms: int) -> Callable[[Note], bool]:
    return lambda note: took_ms(note) >= least_ms


def records(count: int) -> str:
    return f"{count:,} record{'s' * (count != 1)}"


def span(note: Note) -> tuple[int, int]:
    """The first and the last offset."""
    first, end = note.offset or 0, note.end_offset or 0
    return first, end - 1


def offsets(first: int, last: int) -> str:
    return f"offset {first}" if first == last else f"offsets {first} to {last}"
