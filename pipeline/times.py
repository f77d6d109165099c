"""Times for people."""

from datetime import UTC, datetime


def when(time_ms: int | None) -> str:
    """A time of Unix milliseconds, in UTC; nothing if there is none."""
    if time_ms is None:
        return ""
    try:
        return f"{datetime.fromtimestamp(time_ms / 1000, UTC):%Y-%m-%d %H:%M:%S.%f}"[:-3]
    except (ValueError, OverflowError, OSError):
        return str(time_ms)
