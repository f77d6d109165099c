"""What logs say at WARN and above, beside the messages of the tables: rows of what is known to tell of an
error, and counts of what nobody knows, by shape.

A shape is a text without what differs from line to line: each word with a digit in it, and all in quotes.
"""

import re
from collections import Counter
from enum import Enum
from itertools import pairwise
from typing import Final

from .error_names import of_exception, of_librdkafka, of_text
from .log_entries import Entry, cause
from .log_messages import Values, split
from .shapes import MOST_SHAPES, OTHER
from .statements import COMPLAINT, LONGEST, Found, complaints

LEVEL: Final = re.compile(
    r"\b(TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|SEVERE|CRITICAL)\b|(?<![^\s:])%([0-7])\|"
)
LOUD: Final = ("WARN", "WARNING", "ERROR", "FATAL", "SEVERE", "CRITICAL")
_LONGEST_NAME: Final = 300
_LEVEL_WITHIN: Final = 160
_SHAPE_OF: Final = 300
_DIGITS: Final = re.compile(r"\d+")
_MOST_BEGINNINGS: Final = 20_000
_MOST_WHOLES: Final = 2_000
MOST_ROWS: Final = 1_000
"""The rows of one shape of a complaint in a file."""
_LOUD_OF_LIBRDKAFKA: Final = "01234"
_EXCEPTION: Final = re.compile(r"\b(?:[a-z]\w{0,30}\.){0,9}([A-Z]\w{2,60}(?:Exception|Error))\b")
_SHARED: Final = re.compile(r"([^\s:]{1,300})-[\w-]{22}:")
_NUMBER: Final = re.compile(r"-?\d{1,19}")
_PLACES: Final = frozenset(
    ("tp", "topicPartition", "topicIdPartition", "partition", "tpId", "topic_partition", "tip")
)
_TEXTS: Final = {
    "group": ("groupId", "group_id", "group"),
    "transactional_id": ("transactionalId", "transactional_id"),
    "topic": ("topic", "topicName"),
}
_NUMBERS: Final = {
    "producer_id": ("producerId", "producer_id"),
    "producer_epoch": ("producerEpoch",),
    "offset": ("offset", "fetchOffset"),
    "leader_epoch": ("leaderEpoch",),
    "generation": ("generationId",),
}
_COLUMNS: Final = {
    name: column for by in (_TEXTS, _NUMBERS) for column, names in by.items() for name in names
}


def loud(entry: Entry) -> bool:
    """Whether an entry is at WARN or above, as its beginning says."""
    found = LEVEL.search(entry.line[:_LEVEL_WITHIN])
    return found is not None and (found[1] in LOUD if found[1] else found[2] in _LOUD_OF_LIBRDKAFKA)


def shape_of(entry: Entry) -> str:
    """An entry's text, without what differs from line to line."""
    text = entry.message[:_SHAPE_OF]
    unquoted = [each if nth % 2 == 0 else "…" for nth, each in enumerate(text.split('"'))]
    words = ('"'.join(unquoted) if len(unquoted) % 2 else text).split()
    made: list[str] = []
    for word in words:
        named = "…" if any(map(str.isdecimal, word)) or ("=" in word and word.endswith((",", "]"))) else word
        if named != "…" or not made or made[-1] != "…":
            made.append(named)
    return " ".join(made).strip("[]:, ")


class Verdict(Enum):
    """What a shape is: known to tell nothing, known to tell of an error, or not known."""

    NOTHING = "nothing"
    COMPLAINT = "complaint"
    UNKNOWN = "unknown"


class Judge:
    """Judges entries that are no message of the tables: each shape once, and no more than `MOST_SHAPES`.

    Those at WARN and above; with `quiet` others too, among which a complaint may be, as in clients' logs.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._verdicts: dict[bool, dict[str, Verdict]] = {True: {}, False: {}}
        self._shapes: dict[str, str] = {}
        self._wholes: dict[str, Verdict] = {}
        self._rows: Counter[str] = Counter()

    def judged(self, entry: Entry, *, is_loud: bool | None = None) -> tuple[str, Verdict]:
        """The shape of an entry, and what it is; whether it is loud need not be known."""
        if is_loud is None:
            is_loud = loud(entry)
        if not is_loud and not self._quiet:
            return "", Verdict.NOTHING
        shape, known = self._shape(entry), self._verdicts[is_loud]
        verdict = known.get(shape)
        if verdict is None:
            if len(known) >= MOST_SHAPES:
                return (OTHER, Verdict.UNKNOWN) if is_loud else ("", Verdict.NOTHING)
            verdict = known[shape] = _verdict(self._statement(entry.message))
        if verdict is Verdict.UNKNOWN and entry.more:
            verdict = self._by_whole(entry)
        return shape, verdict if is_loud or verdict is not Verdict.UNKNOWN else Verdict.NOTHING

    def _by_whole(self, entry: Entry) -> Verdict:
        """By all lines: what is filled in may have several. Entries with one shape may differ in them."""
        whole = _DIGITS.sub("0", entry.whole[:LONGEST])
        verdict = self._wholes.get(whole)
        if verdict is None:
            verdict = _verdict(self._statement(entry.whole))
            if len(self._wholes) < _MOST_WHOLES:
                self._wholes[whole] = verdict
        return verdict

    def _shape(self, entry: Entry) -> str:
        """A shape takes ten times as long to find as digits to remove."""
        begin = _DIGITS.sub("0", entry.message[:_SHAPE_OF])
        shape = self._shapes.get(begin)
        if shape is None:
            shape = shape_of(entry)
            if len(self._shapes) < _MOST_BEGINNINGS:
                self._shapes[begin] = shape
        return shape

    def row(self, entry: Entry) -> Values:
        """What a complaint says."""
        found = self._found(entry)
        row: Values = {
            "kind": COMPLAINT,
            "detail": _detail(entry),
            **_subjects(found.values if found else []),
        }
        if (error := _error(entry)) is not None:
            row["error"] = error
        return row

    def _found(self, entry: Entry) -> Found | None:
        return self._statement(entry.message) or (self._statement(entry.whole) if entry.more else None)

    def _statement(self, text: str) -> Found | None:
        return complaints(quiet=self._quiet).find(text)

    def once_more(self, shape: str) -> bool:
        """Whether a complaint makes one more row."""
        self._rows[shape] += 1
        return self._rows[shape] <= MOST_ROWS


def _verdict(found: Found | None) -> Verdict:
    if found is None:
        return Verdict.UNKNOWN
    return Verdict.COMPLAINT if found.statement.verdict == COMPLAINT else Verdict.NOTHING


def _detail(entry: Entry) -> str:
    told = entry.message.strip()
    if (level := LEVEL.search(told[:_LEVEL_WITHIN])) is not None:
        told = told[level.end() :].lstrip(" -:")
    return told[:_SHAPE_OF]


def _error(entry: Entry) -> str | None:
    """The error code or exception that an entry names first, else the one of its stack trace."""
    text = entry.message[:1_000]
    if (code := of_text(text) or of_librdkafka(text)) is not None:
        return code
    named = [each[1] for each in _EXCEPTION.finditer(text)] or [(cause(entry) or "").partition(":")[0]]
    return (of_exception(named[0]) or named[0]) or None


def _subjects(values: list[tuple[str, str]]) -> Values:
    row: Values = {}
    for (name, value), (then, rest) in pairwise([*values, ("", "")]):
        # A share partition, in which a group's name may have the dash that parts it from the topic's id.
        if then == "topicIdPartition" and (shared := _SHARED.match(f"{value}-{rest}")):
            value = shared[1]
        value = value[:_LONGEST_NAME].strip(" ,.'\"()").partition(" ")[0].rstrip(",.:;")
        if not value or value in ("null", "None"):
            continue
        if name in _PLACES:
            place = split(value.rpartition(":")[2])
            if "partition" in place:
                row.update(place)
        elif (column := _COLUMNS.get(name)) in _TEXTS:
            row.setdefault(column, value)
        elif column is not None and _NUMBER.fullmatch(value):
            row.setdefault(column, int(value))
    return row
