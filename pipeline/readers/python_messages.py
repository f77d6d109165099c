"""Log messages of kafka-python and aiokafka about positions, resets and groups, from 1.4 and 0.7 on."""

import re
from typing import Final

from .log_entries import Entry
from .log_messages import Table, Values, message

LOGGER: Final = re.compile(r"\b(?:aio)?kafka\.(?:[a-z_]{1,60}\.){0,20}[a-z_]{1,60}\b(?![.\w])")
"""kafka-python's loggers are modules, in lower case: `kafka.coordinator`. A broker's end with a class."""
_NAMED: Final = {
    "group": re.compile(r"(?:for|joining|joined|Joined) group '?(?P<name>[^\s',:;<(]+)"),
    "client": re.compile(r"client_id=(?P<name>[^\s,)]+)"),
}


def _diverged(entry: Entry, found: re.Match[str]) -> Values:
    return {"from_offset": int(found["at"])}


def about(entry: Entry) -> Values:
    """The group and the client that an entry names; nothing if none of these libraries wrote it."""
    if not LOGGER.search(entry.message):
        return {}
    found = ((name, pattern.search(entry.message)) for name, pattern in _NAMED.items())
    return {name: each["name"].rstrip(".") for name, each in found if each}


TABLE: Final = Table.of(
    # kafka/consumer/fetcher.py, aiokafka/consumer/fetcher.py. What they have in common with Java's is there.
    message(
        "refused",
        "is out of range for",
        r"Fetch offset {offset} is out of range for (?:topic-)?partition {tp}",
        api="Fetch",
        error="OFFSET_OUT_OF_RANGE",
    ),
    message(
        "reset",
        "Truncation detected for ",
        r"Truncation detected for {tp} at position (?P<at>\d+); seeking to first diverging offset {offset}",
        _diverged,
        detail="truncation detected",
    ),
    message(
        "reset",
        "Truncation detected for ",
        r"Truncation detected for {tp} at position (?P<at>\d+) \(broker returned UNDEFINED",
        _diverged,
        detail="truncation detected",
    ),
    # kafka/coordinator/base.py, aiokafka/consumer/group_coordinator.py
    message(
        "group",
        "Successfully joined group",
        r"Successfully joined group (?P<group>\S+) <Generation {generation} ",
        detail="joined",
    ),
    message(
        "group",
        "Joined group ",
        r"Joined group '(?P<group>[^']+)' \(generation {generation}\)",
        detail="joined",
    ),
    # kafka/coordinator/consumer.py, up to 2.0
    message(
        "refused",
        "CommitFailedError: ",
        r"commit failed for group (?P<group>[^\s:]{1,300}): CommitFailedError: (?P<detail>[^\n]{1,300})",
        api="OffsetCommit",
        error="CommitFailedException",
    ),
    # kafka/net/transport.py
    message(
        "complaint",
        "Transport ",
        r"<Kafka\w*Transport [^>\n]*>: (?P<detail>Abort \((?P<error>\w+)[^\n]*)",
    ),
)
