"""Date and time at the beginning of a line, or behind the prefix of a Go logger: `[sarama] 2026/11/26 …`."""

import re
from typing import Final

TIME: Final = re.compile(
    r"^\W{0,3}(?:(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\s+|[\w-]{1,30}[\]:] )?\[?"
    r"(?P<date>\d{4}(?:-\d\d-|/\d\d/)\d\d)[T ](?P<time>\d\d:\d\d:\d\d)(?:[.,](?P<part>\d{1,9}))?"
    r"\s?(?P<zone>Z|UTC|[+-]\d\d:?\d\d)?\b"
)


def begins(text: str) -> bool:
    """Whether a line begins with a date and a time."""
    return TIME.match(text) is not None
