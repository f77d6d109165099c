"""What ledgers take, and what they note down."""

from functools import lru_cache
from typing import Any, Final, NamedTuple

_FILES: Final = 1_000
"""Of which the folders are kept at hand: rows of a partition are in few."""


class Row(NamedTuple):
    """A row of the common table, with the columns that ledgers use. `key` is that of the ledger."""

    key: str
    kind: str
    source: str
    file: str
    position: int
    time_ms: int | None = None
    broker: int | None = None
    client: str | None = None
    group: str | None = None
    topic: str | None = None
    partition: int | None = None
    offset: int | None = None
    from_offset: int | None = None
    end_offset: int | None = None
    leader_epoch: int | None = None
    leader: int | None = None
    generation: int | None = None
    transactional_id: str | None = None
    producer_id: int | None = None
    producer_epoch: int | None = None
    sequence: int | None = None
    api: str | None = None
    error: str | None = None
    detail: str | None = None
    replicas: str | None = None
    """The ids of brokers, with commas between them."""

    @property
    def at_ms(self) -> int:
        """The time, 0 if it is not known."""
        return self.time_ms or 0


class Note(NamedTuple):
    """What a ledger noted: `what`, about whom, and the `rows` that show it, each as file, position and kind.

    The offsets are those from `offset` up to and without `end_offset`; `number` is that
    of records, times or epochs.
    """

    what: str
    rows: tuple[tuple[str, int, str], ...]
    group: str | None = None
    client: str | None = None
    topic: str | None = None
    partition: int | None = None
    producer_id: int | None = None
    transactional_id: str | None = None
    broker: int | None = None
    from_ms: int | None = None
    to_ms: int | None = None
    offset: int | None = None
    end_offset: int | None = None
    number: int | None = None
    detail: str | None = None


_OF_ROW: Final = ("group", "client", "topic", "partition", "producer_id", "transactional_id")
SUBJECT: Final = (*_OF_ROW, "broker")
"""What a note may be about; a broker only if it is not just the one that tells."""


def note(what: str, *rows: Row | None, **values: Any) -> Note:
    """A note that these rows show: about what the last one is about, at their times, unless `values` say
    otherwise."""
    shown = [row for row in rows if row is not None]
    about = {name: getattr(shown[-1], name) for name in _OF_ROW} if shown else {}
    times = sorted(row.time_ms for row in shown if row.time_ms is not None)
    if times:
        about |= {"from_ms": times[0], "to_ms": times[-1]}
    places = tuple(dict.fromkeys((row.file, row.position, row.kind) for row in shown))
    return Note(what, places, **{**about, **values})


def voice(row: Row) -> str:
    """Whose order of rows it is: a file's, or, of segments, their folder's."""
    return _folder(row.file) if row.source == "segment" else row.file


@lru_cache(_FILES)
def _folder(file: str) -> str:
    return file.rpartition("/")[0]


def goes_on(last: Row, row: Row) -> bool:
    """Whether a row follows another one of the same voice: its clock may have been set back since."""
    return (row.file, row.position) >= (last.file, last.position)
