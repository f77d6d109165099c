"""When a process that serves collects its garbage.

Young objects are looked at often, so that clients hardly wait for that. All objects are looked at while
nobody asks for anything: where millions of them live, that takes a second.
"""

import gc
import time
from collections.abc import Callable
from typing import Final

import trio

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


async def collect_while_busy(processor_seconds: Callable[[], float] = time.process_time) -> None:
    """Looks at young objects by time, too. Python counts how many more are made than go: while a trace
    forgets as many events as it gets, that takes seconds, and to look at what was made then 0.15 s."""
    while True:
        used = processor_seconds()
        await trio.sleep(YOUNG_SECONDS)
        if processor_seconds() - used < IDLE * YOUNG_SECONDS:
            await trio.sleep(REST_SECONDS)
        else:
            gc.collect(1)


async def collect_when_idle(processor_seconds: Callable[[], float] = time.process_time) -> None:
    """Collects all garbage after each LOOK_SECONDS in which the process did next to nothing."""
    while True:
        used = processor_seconds()
        await trio.sleep(LOOK_SECONDS)
        idle = processor_seconds() - used < IDLE * LOOK_SECONDS
        if idle and gc.get_count()[2] >= WORTH_IT:
            gc.collect()
