"""Files that have commands, and what they print.

$ COMMAND        runs a tool, or kcat; <hmac> and <token> are what the last command printed that made a token
~ COMMAND        the same, where lines are in no particular order: they are sorted
> ACTION         something else that happens, see `actions.py`
  TEXT           a line on stdout
! TEXT           a line on stderr
= STATUS         the exit status, unless it is 0
- PATTERN        lines that match are left out from here on
# TEXT           a comment
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

SESSIONS = Path(__file__).parent / "sessions"
ACTION, COMMANDS, LEFT_OUT = ">", ("$", "~"), "-"
KEPT = (ACTION, *COMMANDS, LEFT_OUT, "#")


def path(name: str) -> Path:
    return SESSIONS / f"{name}.txt"


def names() -> list[str]:
    """Those in the folder `login` are for brokers that clients log in to."""
    return sorted(str(file.relative_to(SESSIONS).with_suffix("")) for file in SESSIONS.rglob("*.txt"))


def played(text: str, act: Callable[[str], None], run: Callable[[str], list[str]]) -> str:
    """The text, with what commands print now instead of what they printed when it was written."""
    lines: list[str] = []
    left_out: list[str] = []
    for line in text.splitlines():
        if line and line[0] not in KEPT:
            continue
        lines.append(line)
        kind, _, what = line.partition(" ")
        if kind == ACTION:
            act(what)
        elif kind == LEFT_OUT:
            left_out.append(what)
        elif kind in COMMANDS:
            printed = [each for each in run(what) if not any(re.search(one, each) for one in left_out)]
            lines += printed if kind == "$" else sorted(printed)
    return "\n".join(lines) + "\n"
