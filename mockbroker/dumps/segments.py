"""Log segments (`00000000000000000000.log`), whose folder Kafka names after topic and partition."""

import re
from pathlib import Path
from typing import Final, NamedTuple

from ..protocol import message_set, record_batch
from ..protocol.record_batch import Record
from .files import Head
from .scanning import Span, looks_like_batch

_NAME: Final = re.compile(r"\d{20}\.log(\.deleted|\.cleaned|\.swap)?")
_BESIDE: Final = re.compile(r"\d{20}\.(index|timeindex|txnindex|snapshot)(\..*)?")
"""Files beside a segment: the first entry of an index may look like the head of a batch of an old magic."""
_FOLDER: Final = re.compile(r"(?P<topic>.+)-(?P<partition>\d+)(\.[0-9a-f]{32}-(delete|future|stray))?")


class Place(NamedTuple):
    """Whose log a file belongs to; None if its folder's name does not say."""

    topic: str | None
    partition: int | None


def place_of(path: Path) -> Place:
    """Topic and partition of a segment's folder: `orders-0`."""
    found = _FOLDER.fullmatch(path.absolute().parent.name)
    return Place(found["topic"], int(found["partition"])) if found else Place(None, None)


def recognises(head: Head) -> bool:
    if head.compressed or _BESIDE.fullmatch(head.path.name):
        return False
    return looks_like_batch(head.data) or (bool(_NAME.fullmatch(head.path.name)) and not head.text)


def records_of(span: Span) -> list[Record]:
    """The records of a batch of any magic. ValueError or IndexError if it is malformed."""
    if span.magic == 2:
        return list(record_batch.records(span.data))
    return message_set.records(message_set.read_message(span.data))
