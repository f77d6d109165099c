"""The time at which a cluster starts."""

from datetime import UTC, datetime
from typing import Final

from ..duration import LAST_MS
from ..errors import OptionError

WALL: Final = "wall"


def start_ms(now: str | int | datetime | None, wall_ms: int, last_ms: int = -1) -> int:
    """Unix time in ms: `now`, or else `last_ms`, that of the last record that is restored, or else that of
    the wall clock. A time without a zone is in UTC. OptionError.
    """
    if now is None:
        return last_ms if last_ms >= 0 else wall_ms
    if now == WALL:
        return wall_ms
    found = milliseconds(now)
    if found is None or not 0 <= found <= LAST_MS:
        raise OptionError(
            f"the cluster's time can't begin at {now!r}: give a time such as 2026-03-01T12:30:00Z, "
            "milliseconds since 1970, or 'wall' for that of the wall clock"
        )
    return found


def milliseconds(now: str | int | datetime) -> int | None:
    """A Unix time, in UTC unless it says otherwise; None if it is none."""
    if isinstance(now, int) and not isinstance(now, bool):
        return now
    if isinstance(now, str) and now.isdecimal():
        return int(now)
    if isinstance(now, str):
        try:
            now = datetime.fromisoformat(now)
        except ValueError:
            return None
    if not isinstance(now, datetime):
        return None
    zoned = now if now.tzinfo is not None else now.replace(tzinfo=UTC)
    return round(zoned.timestamp() * 1000)
