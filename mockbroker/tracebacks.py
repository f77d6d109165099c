"""Tracebacks without the frames that don't concern the reader."""

import traceback
from collections.abc import Iterator
from types import TracebackType
from typing import Final

_OURS: Final = frozenset({"concurrent", "contextlib", "mockbroker", "trio"})
"""Packages whose frames lie between a user's code and the user's function that they call."""


def of_users(found: TracebackType | None) -> TracebackType | None:
    """The frames of the user's own code, in order; None if there are none."""
    kept = None
    for each in reversed(list(_entries(found))):
        if not _is_ours(each):
            kept = TracebackType(kept, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return kept


def from_users(found: TracebackType | None) -> TracebackType | None:
    """The frames from the first one of the user's own code on; all frames if there is none."""
    for each in _entries(found):
        if not _is_ours(each):
            return each
    return found


def described(error: BaseException) -> str:
    """Where in the user's own code an error was raised, or the whole traceback if it was elsewhere."""
    if (kept := of_users(error.__traceback__)) is not None:
        return "".join(traceback.format_tb(kept)).rstrip()
    return "".join(traceback.format_exception(error)).rstrip()


def _is_ours(entry: TracebackType) -> bool:
    return entry.tb_frame.f_globals.get("__name__", "").partition(".")[0] in _OURS


def _entries(found: TracebackType | None) -> Iterator[TracebackType]:
    while found is not None:
        yield found
        found = found.tb_next
