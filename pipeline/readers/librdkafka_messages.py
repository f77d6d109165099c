"""Log messages of librdkafka, by itself or as an application logs them, about resets and commits."""

import re
from typing import Final

from . import denial_messages, member_messages
from .log_entries import Entry
from .log_messages import Table, Values, message

_PLACE: Final = r"(?P<topic>[\w.-]+) \[(?P<partition>\d+)\]"
_AT: Final = r"offset (?P<from_offset>\d+)(?: \(leader epoch (?P<leader_epoch>-?\d+)\))?"
_STRATEGIES: Final = {"BEGINNING": "earliest", "END": "latest"}
_CLIENT: Final = re.compile(r"(?<![^\[\]|#\s])(?P<client>[^\[\]|#\s]+)#(?:consumer|producer)-\d+[\]|]")


def _reset(entry: Entry, found: re.Match[str]) -> Values:
    to = found["to"]
    row: Values = {"detail": _STRATEGIES.get(to, to.lower())}
    if to.isdecimal():
        row["offset"] = int(to)
    if "Offset out of range" in found["why"]:
        row["error"] = "OFFSET_OUT_OF_RANGE"
    elif "log truncation detected" in found["why"]:
        row["detail"] = "truncation detected"
    if (found["leader_epoch"] or "").startswith("-"):
        row["leader_epoch"] = None
    return row


def client(entry: Entry) -> str | None:
    """The `client.id` that begins an entry; librdkafka appends the number of the instance."""
    if "#consumer-" not in entry.message and "#producer-" not in entry.message:
        return None
    named = _CLIENT.search(entry.message)
    return named["client"] if named else None


TABLE: Final = Table.of(
    # rdkafka_offset.c
    message(
        "reset",
        "offset reset (at offset ",
        rf"(?<![\w.-]){_PLACE}: offset reset \(at {_AT}(?:, broker (?P<broker>-?\d+))?\) to "
        r"(?:cached )?(?:offset )?(?P<to>\w+)[^:]*: (?P<why>[^\n]*)",
        _reset,
    ),
    # rdkafka_assignment.c, rdkafka_cgrp.c
    message(
        "refused",
        "OffsetCommit failed for ",
        rf"OffsetCommit failed for {_PLACE} at offset {{offset}} in join-state \S+: (?P<detail>[^\n]+)",
        api="OffsetCommit",
    ),
    message(
        "refused",
        "Failed to fetch committed offset for group",
        r'Failed to fetch committed offset for group "(?P<group>[^"]+)" topic '
        rf"{_PLACE}: (?P<detail>[^\n]+)",
        api="OffsetFetch",
    ),
    *member_messages.LIBRDKAFKA,
    *denial_messages.LIBRDKAFKA,
)
