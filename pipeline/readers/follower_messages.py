"""Log messages of followers that name many partitions (AbstractFetcherThread)."""

import re
from collections.abc import Iterator
from typing import Final

from .log_entries import Entry, cause
from .log_messages import Values

UNANSWERED: Final = "unanswered"
TEXT: Final = "Error in response for fetch request (type=FetchRequest"
_OF: Final = re.compile(r"(?<![\w.-])(?P<tp>[\w.-]{1,249}-\d{1,9})=(?:PartitionData)?\(")


def unanswered(entry: Entry) -> Iterator[Values]:
    """A row for each partition that the request named; one within a session names only what has changed."""
    at = entry.message.find(TEXT)
    if at < 0:
        return
    why = cause(entry)
    for named in _OF.finditer(entry.message, at):
        yield {"kind": UNANSWERED, "tp": named["tp"], "detail": why}
