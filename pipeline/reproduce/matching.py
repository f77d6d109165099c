"""What a simulated history shows, by the names of `analyze`, and how much of an incident that is."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ...simulation.timeline import STEP, VIOLATION, Line

_LEADER: Final = re.compile(r"t-0: leader (\d+), leader epoch \d+")
_IN_SYNC: Final = re.compile(r"t-0: in sync replicas \(([\d, ]*)\)")
_TRUNCATION: Final = re.compile(r"t-0: broker (\d+), from offset (\d+), to offset (\d+)")
_CUT_OFF: Final = re.compile(r"cut-off-broker broker=(\d+)")
_DELETIONS: Final = ("records-deleted", "retention-lowered")
_KILLED: Final = re.compile(r"kill-broker broker=(\d+)")
_BACK: Final = re.compile(r"goes back from (\d+) to (\d+)")
_RESET: Final = re.compile(r"resets to (earliest|latest)")


def shown(lines: Iterable[Line], invariant: str | None = None, name: str = "") -> Iterator[str]:
    """The signatures of findings that lines of a history show, in order. A violation of `invariant` shows
    `name`."""
    in_sync, cut_off, killed = {1, 2, 3}, set[str](), set[str]()
    clean = True
    for line in lines:
        if found := _LEADER.match(line.what):
            if int(found[1]) not in in_sync:
                clean = False
                yield "unclean-election"
        elif found := _IN_SYNC.fullmatch(line.what):
            in_sync = {int(each) for each in re.findall(r"\d+", found[1])}
        elif found := _TRUNCATION.fullmatch(line.what):
            if int(found[3]) >= int(found[2]):
                continue
            if found[1] in cut_off:
                yield "cut-off-leader"
            elif clean and found[1] in killed:
                yield "unreplicated-tail-lost"
            else:
                yield "log-end-fell"
        elif line.who == VIOLATION and invariant is not None and line.what.startswith(f"{invariant}:"):
            yield name
        elif line.who == STEP and (found := _CUT_OFF.fullmatch(line.what)):
            cut_off.add(found[1])
        elif line.who == STEP and (found := _KILLED.fullmatch(line.what)):
            killed.add(found[1])
        elif line.who == STEP and line.what.startswith("delete-records") and name in _DELETIONS:
            yield name
        elif found := _RESET.match(line.what):
            yield f"reset-to-{found[1]}"
        elif (found := _BACK.match(line.what)) and int(found[2]) < int(found[1]):
            yield "set-back"


def matched(expected: Sequence[str], seen: Sequence[str]) -> frozenset[int]:
    """The places in `expected` of a longest part that `seen` has too, in the same order."""
    longest = [[0] * (len(seen) + 1) for _ in range(len(expected) + 1)]
    for i in range(len(expected) - 1, -1, -1):
        for j in range(len(seen) - 1, -1, -1):
            same = longest[i + 1][j + 1] + 1 if expected[i] == seen[j] else 0
            longest[i][j] = max(same, longest[i + 1][j], longest[i][j + 1])
    places, i, j = set(), 0, 0
    while i < len(expected) and j < len(seen):
        if expected[i] == seen[j]:
            places.add(i)
            i, j = i + 1, j + 1
        elif longest[i + 1][j] >= longest[i][j + 1]:
            i += 1
        else:
            j += 1
    return frozenset(places)
