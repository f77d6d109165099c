"""How far a clock is moved ahead."""

import re
from datetime import timedelta
from typing import Final

from .errors import OptionError

_UNITS: Final = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
LAST_MS: Final = 253_402_300_799_999
"""The end of the year 9999, the last that `datetime` has."""
_PART: Final = re.compile(r"(\d+)(ms|[smhd])")

Duration = str | int | timedelta
"""`"7d"`, `"1h30m"` (units ms, s, m, h and d), milliseconds, or a timedelta."""


def later(now_ms: int, by: Duration) -> int:
    """`by` after `now_ms`. ValueError if `by` is not a duration, or the result is past LAST_MS."""
    then_ms = now_ms + milliseconds(by)
    if then_ms > LAST_MS:
        raise OptionError(f"the clock can't be advanced by {by!r:.50}: it ends on 9999-12-31")
    return then_ms


def milliseconds(duration: Duration) -> int:
    """ValueError if it is not a duration, or is negative."""
    if isinstance(duration, timedelta):
        found = duration // timedelta(milliseconds=1)
    elif isinstance(duration, int) and not isinstance(duration, bool):
        found = duration
    elif isinstance(duration, str) and re.fullmatch(rf"({_PART.pattern})+", duration):
        found = sum(int(number) * _UNITS[unit] for number, unit in _PART.findall(duration))
    else:
        # Text comes from shells and other processes, which have no timedelta.
        others = "" if isinstance(duration, str) else ", milliseconds, or a timedelta"
        raise OptionError(
            f"the clock can't be advanced by {duration!r:.50}: give '7d', '1h30m' (units ms, s, m, h and d)"
            f"{others}"
        )
    if found < 0:
        raise OptionError(f"the clock can't be advanced by {duration!r}: time does not go back")
    return found
