"""The program. `serve` does without typer where it can: to import that takes longer than to start brokers."""

import gc
import io
import os
import sys
import warnings
from typing import Final, NoReturn

from .failing import say

_COMPLETION: Final = "_MOCKBROKER_COMPLETE"
"""Set by shells that ask how a command line goes on."""


def main() -> None:
    if not sys.warnoptions:
        # The warnings of libraries are of no use to a user.
        warnings.simplefilter("ignore")
    _prepare_output()
    try:
        if not _served(sys.argv[1:]):
            from .app import app

            app()
    except OSError as error:
        # The commands report all others themselves.
        _lost(error)
    finally:
        _end_output()


def _served(arguments: list[str]) -> bool:
    """Serves, if that is all that the arguments say."""
    if arguments[:1] != ["serve"] or _COMPLETION in os.environ:
        return False
    from .plain import plain
    from .serving import LIMITS, SHORT, serve

    given = plain(serve, arguments[1:], LIMITS, SHORT)
    if given is None:
        return False
    # Nearly all that is made until the cluster is ready stays.
    gc.disable()
    try:
        serve(**given)
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    finally:
        gc.enable()
    return True


def _prepare_output() -> None:
    """Text that stdout can't show is escaped; without a stdout, output is discarded."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _end_output() -> None:
    """Output that could not be written is reported in one line, not by Python's message at exit."""
    try:
        sys.stdout.flush()
    except OSError as error:
        _lost(error)


def _lost(error: OSError) -> NoReturn:
    # Python would try again at exit to write what is left in the buffer.
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    say(f"mockbroker: can't write to stdout: {error.strerror}")
    raise SystemExit(2) from None
