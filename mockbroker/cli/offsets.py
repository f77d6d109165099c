"""Reads the files of `--offsets`, and tells how far that is if it takes long."""

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from ..dumps.offsets_topic import OffsetsTopic

_EVERY_SECONDS: Final = 2.0
_MB: Final = 1_000_000


def offsets_topic(paths: Sequence[Path] | None, *, quiet: bool) -> OffsetsTopic | None:
    """None if there are no files. OptionError."""
    if not paths:
        return None
    from ..dumps.offsets_files import read

    return read(paths, progress(time.monotonic, quiet=quiet))


def progress(clock: Callable[[], float], *, quiet: bool = False) -> Callable[[int, int], None]:
    """Writes a line to stderr every two seconds; given the bytes that were read, and how many there are."""
    told = clock()

    def tell(done: int, total: int) -> None:
        nonlocal told
        now = clock()
        if not quiet and now - told >= _EVERY_SECONDS:
            told = now
            sys.stderr.write(f"mockbroker serve: {done // _MB} of {total // _MB} MB of offsets read\n")
            sys.stderr.flush()

    return tell
