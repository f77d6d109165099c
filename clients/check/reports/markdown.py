"""Verdicts and texts in Markdown."""

from typing import Final

from ..verdicts import Judged

_LONG: Final = 240


def word(judged: Judged) -> str:
    """The verdict, bold if it tells against the client."""
    told = plain(judged.told)
    return f"**{told}**" if judged.unexpected else told


def plain(text: str) -> str:
    """One line that is no Markdown."""
    line = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    line = line if len(line) <= _LONG else f"{line[:_LONG]}…"
    for mark in "\\|*_<`[":
        line = line.replace(mark, f"\\{mark}")
    return line
