"""Suggests the right name for a wrong one, in error messages."""

from collections.abc import Iterable
from typing import Final

_FEW: Final = 20
_NEAR: Final = 0.6


def nearest(wrong: object, right: Iterable[str]) -> str:
    """`: did you mean …?`, or, if no name is near and there are only a few, the names to choose from."""
    names = sorted(right)
    if not names:
        return ""
    if (best := near(wrong, names)) is not None:
        return f": did you mean {best!r}?"
    return f": choose one of {', '.join(names)}" if len(names) <= _FEW else ""


def near(wrong: object, right: Iterable[str]) -> str | None:
    """The name that is nearest to a wrong one; None if no name is near."""
    best = max(right, key=lambda name: _likeness(str(wrong), name), default=None)
    return best if best is not None and _likeness(str(wrong), best) > _NEAR else None


def _likeness(wrong: str, right: str) -> float:
    """How similar they are, from 0 to 1; the beginning of a name is enough."""
    # Importing it takes time, and it is rarely needed.
    import difflib

    wrong, right = wrong.lower(), right.lower()
    return max(
        difflib.SequenceMatcher(None, wrong, each).ratio() for each in (right, right[: len(wrong)]) if each
    )
