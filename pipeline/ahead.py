"""Logs of brokers, read piece by piece: large ones by the engine, ahead of whoever takes their rows."""

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, tzinfo
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

from .engine import Engine
from .observations import Observation
from .readers import Reader, Reading
from .readers.files import head, unreadable, why
from .readers.pieces import Told, can_cut, cuts, rows, told

PIECE: Final = 32 << 20
"""Bytes: a process then takes some 0.5 GB."""
_LARGE: Final = 64 << 20
"""Bytes of all logs that are worth the seconds in which processes, or Spark, start."""


class _Task(NamedTuple):
    path: Path
    start: int
    end: int
    timezone: tzinfo


def can_read(path: Path, reader: Reader) -> bool:
    """Whether a file is a broker's log that can be cut. PipelineError if it can't be opened."""
    return reader.name == "broker-log" and can_cut(head(path))


class Ahead:
    """Reads logs, which are asked for in the order in which they are given."""

    def __init__(
        self, logs: Iterable[Path], engine: Engine, timezone: tzinfo = UTC, piece: int = PIECE
    ) -> None:
        cut = [[_Task(path, *each, timezone) for each in _ranges(path, piece)] for path in logs]
        self._logs = iter(cut)
        tasks = [task for log in cut for task in log]
        large = sum(each.end - each.start for each in tasks) >= _LARGE
        self._told = engine.ahead(_told, tasks) if large else (_told(task) for task in tasks)

    def read(self, path: Path, reading: Reading, done: Callable[[int], None]) -> Iterator[Observation]:
        """The rows of the next log; `done` hears of the bytes of each piece."""
        tasks = next(self._logs)
        assert all(each.path == path for each in tasks), path

        bad: list[str] = []

        def pieces() -> Iterator[Told]:
            for task in tasks:
                found = next(self._told)
                if isinstance(found, str):
                    bad.append(found)
                else:
                    yield found
                done(task.end - task.start)

        yield from rows("broker-log", path, pieces(), reading)
        if bad:
            yield unreadable("broker-log", str(path), 0, bad[0])

    def close(self) -> None:
        """Ends the processes."""
        self._told.close()


def _ranges(path: Path, size: int) -> Iterator[tuple[int, int]]:
    return pairwise([*cuts(path, size), path.stat().st_size])


def _told(task: _Task) -> Told | str:
    """What a piece tells, or why it can't be read."""
    try:
        return told(task.path, task.start, task.end, Reading(task.timezone))
    except Exception as error:
        return why(error)
