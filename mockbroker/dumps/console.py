"""Dumps of `__consumer_offsets` by the console consumer with a formatter: text up to 3.7, JSON since 3.8.

The JSON formatters write nothing between objects, so that many are in one line.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from ..protocol.offsets_log import Commit, CommitKey
from .decoded import Entry
from .files import Head, Line

JSON: Final = re.compile(r'\s*\{"key":\s*(null|\{"(version|type)":)')
"""How a dump in JSON begins."""
_KEY: Final = re.compile(r"\[(?P<group>.*),(?P<topic>[\w.-]+),(?P<partition>\d+)\]::(?P<value>.*)")
_DELETED: Final = "NULL"
_NONE: Final = -1
_VALUES: Final = (
    # 2.1 and later, and 1.x to 2.0 without the leader epoch
    re.compile(
        r"OffsetAndMetadata\(offset=(?P<offset>-?\d+), "
        r"(?:leaderEpoch=Optional(?:\[(?P<epoch>\d+)\]|\.empty), )?metadata=(?P<metadata>.*), "
        r"commitTimestamp=(?P<time>\d+), expireTimestamp=(?:None|Some\((?P<expire>-?\d+)\)|[^,]{0,100})\)"
    ),
    # 0.9 to 1.0
    re.compile(
        r"\[OffsetMetadata\[(?P<offset>-?\d+),(?P<metadata>.*)\],"
        r"CommitTime (?P<time>-?\d+),ExpirationTime (?P<expire>-?\d+)\]"
    ),
    # 0.8.2
    re.compile(r"OffsetAndMetadata\[(?P<offset>-?\d+),(?P<metadata>.*?)(?:,(?P<time>\d{10,}))?\]"),
)
_NO_METADATA: Final = "NO_METADATA"


class TornError(ValueError):
    """Text that begins like JSON and is not; `rest` is that text."""

    def __init__(self, rest: str, reason: str) -> None:
        super().__init__(reason)
        self.rest = rest


class JsonObject(NamedTuple):
    """A record that a JSON formatter wrote, and its text."""

    found: Any
    text: str


def recognises(head: Head) -> bool:
    """Whether it is such a dump, or one of `__transaction_state` in JSON."""
    if JSON.match(head.text):
        return True
    return any(_KEY.fullmatch(each) for each in head.lines[:50])


def json_objects(line: Line) -> Iterator[JsonObject]:
    """The objects in a line. TornError."""
    decoder, at, text = json.JSONDecoder(), 0, line.text
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        try:
            found, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            reason = f"no JSON from character {at}: {error}" if line.ended else "torn last line"
            raise TornError(text[at:], reason) from None
        yield JsonObject(found, text[at:end])
        at = end


def of_line(text: str) -> Entry | None:
    """What a line of the text formatter says; None if it is no such line. ValueError for an unknown value."""
    found = _KEY.fullmatch(text)
    if found is None:
        return None
    key = CommitKey(found["group"], found["topic"], int(found["partition"]))
    if found["value"] == _DELETED:
        return Entry(key, None, deleted=True)
    for pattern in _VALUES:
        if value := pattern.fullmatch(found["value"]):
            said = value.groupdict()
            metadata = said["metadata"] if said["metadata"] != _NO_METADATA else ""
            commit = Commit(
                int(said["offset"]),
                int(said.get("epoch") or _NONE),
                metadata,
                int(said["time"] or _NONE),
                int(said.get("expire") or _NONE),
            )
            return Entry(key, commit)
    raise ValueError(f"unknown value {found['value']!r:.100}")
