"""A file that is written while a cluster is traced."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from ..server.failures import OutputLostError
from ..trace import Event
from ..trace.files import JsonLines, write_parquet


@contextlib.contextmanager
def written_to(path: Path | None) -> Iterator[Callable[[Event], None] | None]:
    """A listener that writes JSON lines as things happen, or Parquet at the end; None without a path.

    OSError, ImportError without pyarrow.
    """
    if path is None:
        yield None
    elif path.suffix == ".parquet":
        events: list[Event] = []
        # What can't be written is known before anything happens.
        write_parquet(path, events)
        try:
            yield events.append
        finally:
            write_parquet(path, events)
    else:
        trace = _TraceFile(path)
        try:
            yield trace
        finally:
            trace.close()


class _TraceFile:
    """Writes events as they come, until that fails. OSError if the file can't be opened."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("w")
        self._lines = JsonLines(self._file)

    def __call__(self, event: Event) -> None:
        try:
            self._lines(event)
            self._file.flush()
        except OSError as error:
            raise OutputLostError(self._path, error) from None

    def close(self) -> None:
        # Everything was written already, or the failure has been reported.
        with contextlib.suppress(OSError):
            self._file.close()
