"""Lines that are alike are printed a few times, and then counted: nobody reads the thousandth."""

import re
import time
from collections.abc import Callable
from typing import Final

SECONDS: Final = 10
"""After this long, counts are printed, and the first lines again."""
PRINTED: Final = 3
"""How many lines that differ in numbers only are printed."""
MOST_KINDS: Final = 100
"""How many lines that differ in more are told apart; all others of a subject are alike."""
_COMPARED: Final = 200
_NUMBER: Final = re.compile(r"\d+")


class Repeats:
    """Counts lines. `sum_up` calls `tell` for each kind that was not always printed: with the subject, the
    last line, how many were not printed, and over how many seconds."""

    def __init__(
        self, tell: Callable[[str, str, int, float], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._tell = tell
        self._clock = clock
        self._counts: dict[tuple[str, str], int] = {}
        self._last: dict[tuple[str, str], tuple[str, int]] = {}
        """The last line that was not printed, and how many there were."""
        self._since = 0.0

    def is_new(self, subject: str, line: str, most: int = PRINTED) -> bool:
        """Whether to print a line: unless `most` like it, on the same subject, have been printed already."""
        if not self._counts:
            self._since = self._clock()
        key = subject, _NUMBER.sub("0", line[:_COMPARED])
        if key not in self._counts and len(self._counts) >= MOST_KINDS:
            key = subject, ""
        count = self._counts[key] = self._counts.get(key, 0) + 1
        if count > most:
            self._last[key] = line, count - most
        return count <= most

    def sum_up(self) -> None:
        """Says what was counted, and begins anew."""
        last, seconds = self._last, self._clock() - self._since
        self._last, self._counts = {}, {}
        for (subject, _), (line, count) in last.items():
            self._tell(subject, line, count, seconds)


def counted(line: str, count: int, seconds: float) -> str:
    """One line for those that were not printed."""
    return f"{line} ({count:,} like it in {max(round(seconds), 1)} s)"
