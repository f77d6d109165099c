"""How commands say why they can't do something."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from ..shown import shown


def why(error: Exception) -> str:
    """The error in one line; for a file with its name and the system's message."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def say(line: str) -> None:
    """Writes a line to stderr."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def say_shown(command: str, line: str) -> None:
    """Writes what a command tells, of which parts may come from outside."""
    say(f"mockbroker {command}: {shown(line)}")


_REFUSALS: Final = (ValueError, OSError, ImportError)


@contextmanager
def reported(command: str, kinds: tuple[type[Exception], ...] = _REFUSALS) -> Iterator[None]:
    """For exceptions of these `kinds`: prints why the command can't do its work, and exits with 2."""
    try:
        yield
    except kinds as error:
        say(f"mockbroker {command}: {why(error)}")
        raise SystemExit(2) from None
