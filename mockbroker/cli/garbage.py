"""When a process that serves collects its garbage.

Young objects are looked at often, so that clients hardly wait for that. All objects are looked at while
nobody asks for anything: where millions of them live, that takes a second.
"""

import gc
import time
from collections.abc import Callable
from typing import Final

YOUNG_SECONDS: Final = 0.05
REST_SECONDS: Final = 0.2
"""A process of which nobody asks anything is not woken more often."""
LOOK_SECONDS: Final = 5.0
IDLE: Final = 0.02
"""The part of a processor that a process needs of which nobody asks anything."""
WORTH_IT: Final = 20
"""Collections of the middle generation after which there may be something in the oldest."""
_THRESHOLDS: Final = (50_000, 5, 200_000)


def collect_young() -> None:
    """Objects that exist now are never looked at again; those of the oldest generation after hours of the
    heaviest load."""
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
    gc.enable()


class WhileBusy:
    """Looks at young objects by time, too, one look each YOUNG_SECONDS. Python counts how many more are made
    than go: while a trace forgets as many events as it gets, that takes seconds, and to look at what was made
    then 0.15 s."""

    def __init__(self, processor_seconds: Callable[[], float] = time.process_time) -> None:
        self._processor_seconds = processor_seconds
        self._used = processor_seconds()

    def look(self) -> bool:
        """False if the process did next to nothing since the last look."""
        busy = self._processor_seconds() - self._used >= IDLE * YOUNG_SECONDS
        if busy:
            gc.collect(1)
        self._used = self._processor_seconds()
        return busy


class WhenIdle:
    """Collects all garbage when a look, one each LOOK_SECONDS, finds that the process did next to nothing
    since the last one."""

    def __init__(self, processor_seconds: Callable[[], float] = time.process_time) -> None:
        self._processor_seconds = processor_seconds
        self._used = processor_seconds()

    def look(self) -> None:
        idle = self._processor_seconds() - self._used < IDLE * LOOK_SECONDS
        if idle and gc.get_count()[2] >= WORTH_IT:
            gc.collect()
        self._used = self._processor_seconds()
