"""A run as lines to read."""

from collections.abc import Iterator

from . import journal
from .journal import Entry, Partition
from .stage import Outcome

_LONG = 40
_PRINTED = 20
_TYPES = {0: "gap", 1: "accept", 2: "release", 3: "reject", 4: "renew"}


def lines(outcome: Outcome) -> Iterator[str]:
    """Each entry of the journal, with its number, ms since the start, and who."""
    for entry in outcome.journal.entries:
        yield f"{entry.at:4} {entry.ms / 1000:7.3f} s  {entry.user:16} {in_words(entry)}"


def in_words(entry: Entry) -> str:
    match entry:
        case journal.Sent():
            within = "" if entry.transaction is None else f" in transaction {entry.transaction}"
            where = entry.topic if entry.partition < 0 else f"{entry.topic}-{entry.partition}"
            size = f", {len(entry.value or b'')} bytes" if len(entry.value or b"") > _LONG else ""
            headers = f", {len(entry.headers)} headers" if entry.headers else ""
            return f"sends record {entry.number} ({entry.what}{size}{headers}) to {where}{within}"
        case journal.Told(error=None, offset=None):
            return f"is told that record {entry.number} is written"
        case journal.Told(error=None):
            return f"is told that record {entry.number} is at offset {entry.offset}"
        case journal.Told():
            return f"is told of record {entry.number}: {entry.error}"
        case journal.Ended():
            verb = "commits" if entry.commits else "aborts"
            return f"{verb} transaction {entry.transaction}{_error(entry.error)}"
        case journal.Opened():
            return f"opens {entry.handle}"
        case journal.Owns():
            return f"{'is given' if entry.gains else 'loses'} {_partitions(entry.partitions)}"
        case journal.Read():
            return f"reads {entry.topic}-{entry.partition} offset {entry.offset}: {_short(entry.value)}"
        case journal.Failed():
            return f"is told by {entry.by}: {entry.error}"
        case journal.Sought():
            to = f"its {entry.to}, at" if entry.to in ("beginning", "end", "timestamp") else ""
            return f"seeks {entry.topic}-{entry.partition} to {f'{to} ' if to else ''}{entry.offset}"
        case journal.Committed():
            offsets = ", ".join(f"{topic}-{p}: {offset}" for (topic, p), offset in entry.offsets.items())
            return f"commits {offsets}{_error(entry.error)}"
        case journal.Delivered():
            where = f"{entry.topic}-{entry.partition} offset {entry.offset}"
            return f"is given {where}, delivery {entry.count}: {_short(entry.value)}"
        case journal.Said():
            return f"{entry.what}s {entry.topic}-{entry.partition} offset {entry.offset}{_error(entry.error)}"
        case journal.Acknowledged():
            what = "are not committed" if entry.error else "are committed"
            where = f"{entry.topic}-{entry.partition} {_offsets(entry.offsets)}"
            return f"is told by {entry.by} that acknowledgements of {where} {what}{_error(entry.error)}"
        case journal.Granted():
            where = f"{entry.topic}-{entry.partition} {_range(entry.first, entry.last)}"
            return f"has acquired {where}, delivery {entry.count}"
        case journal.Settled():
            where = f"{entry.topic}-{entry.partition} {_range(entry.first, entry.last)}"
            said = " ".join(_TYPES.get(each, str(each)) for each in entry.types)
            return f"has its {entry.api} say {said} of {where}: {entry.error or 'done'}"
        case journal.Heeded():
            return f'after {entry.verb} ({entry.error.name}): {entry.act}, since "{entry.says}"'
        case journal.Refused():
            told = " ".join(entry.errors) or "no error"
            lost = ", and the answer is lost" if entry.lost else ""
            return f"its {entry.api} gets {told}{lost}"
        case journal.Initialized():
            return "is given a producer id"
        case journal.Happened():
            return f"{entry.what}{f' (not possible: {entry.why_not})' if entry.why_not else ''}"
        case journal.Called():
            fields = "".join(f" {name}={value}" for name, value in entry.fields.items() if value is not None)
            return f"has called {entry.verb}{fields}{_error(entry.error)}"
        case journal.Exited():
            how = "is killed" if entry.killed else f"ends with status {entry.status}"
            printed = "\n".join(f"{'':33}| {line}" for line in entry.output.splitlines()[-_PRINTED:])
            return f"{how}\n{printed}" if printed else how
    raise TypeError(entry)


def _error(error: object) -> str:
    return "" if error is None else f": {error}"


def _partitions(partitions: tuple[Partition, ...]) -> str:
    return ", ".join(f"{topic}-{partition}" for topic, partition in partitions) or "nothing"


def _offsets(offsets: tuple[int, ...]) -> str:
    return f"offsets {', '.join(map(str, offsets))}" if offsets else "nothing"


def _range(first: int, last: int) -> str:
    return f"offset {first}" if first == last else f"offsets {first} to {last}"


def _short(value: bytes | None) -> str:
    if value is None:
        return "null"
    text = value.decode(errors="replace")
    return text if len(text) <= _LONG else f"{text[:_LONG]}…"
