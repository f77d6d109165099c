"""When a process that serves collects its garbage.

Young objects are looked at often, so that clients never wait for that for longer than 0.1 s. All objects are
looked at while nobody asks for anything: where millions of them live, that takes a second.
"""

import gc
import time
from collections.abc import Callable
from typing import Final

LOOK_SECONDS: Final = 5.0
IDLE: Final = 0.02
"""The part of a processor that a process needs of which nobody asks anything."""
WORTH_IT: Final = 20
"""Collections of the middle generation after which there may be something in the oldest."""
_THRESHOLDS: Final = (50_000, 5, 10_000)


def collect_young() -> None:
    """Objects that exist now are never looked at again; those of the oldest generation after hours of the
    heaviest load."""
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
    gc.enable()


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
