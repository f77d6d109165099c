"""Reads the files of `--offsets`, and reports progress if that takes long."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..progress import now_and_then

if TYPE_CHECKING:
    from ..dumps.offsets_topic import OffsetsTopic

_EVERY_SECONDS: Final = 2.0
_MB: Final = 1_000_000


def offsets_topic(paths: Sequence[Path] | None, *, quiet: bool) -> "OffsetsTopic | None":
    """None if there are no files. OptionError."""
    if not paths:
        return None
    from ..dumps.offsets_files import read

    return read(paths, progress(quiet=quiet))


def progress(
    clock: Callable[[], float] = time.monotonic, *, quiet: bool = False
) -> Callable[[int, int], None]:
    """Writes a line to stderr every two seconds; given the bytes that were read, and how many there are."""
    tell = now_and_then("serve", _EVERY_SECONDS, clock)

    def read_so_far(done: int, total: int) -> None:
        if not quiet:
            tell(f"{done // _MB} of {total // _MB} MB of offsets read")

    return read_so_far
