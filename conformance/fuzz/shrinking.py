"""Makes a session as short as possible while it still goes wrong."""

import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from .dialogue import Finding
from .steps import Send, Session, Step

MOST_RUNS: Final = 400


def signature(finding: Finding) -> str:
    """The same text for findings that are probably the same: the kind, and the last line without numbers."""
    last = str(finding).strip().splitlines()[-1]
    return f"{finding.kind}: {re.sub('[0-9]+', 'N', last)[:100]}"


def shrink(session: Session, goes_wrong: Callable[[Session], bool], most_runs: int = MOST_RUNS) -> Session:
    """Removes steps in ever smaller chunks (ddmin), then simplifies the rest."""
    runs = 0
    changed = True
    while changed and runs < most_runs:
        changed = False
        for steps in _smaller(list(session.steps)):
            runs += 1
            candidate = replace(session, steps=steps)
            if goes_wrong(candidate):
                session, changed = candidate, True
                break
            if runs >= most_runs:
                break
    return session


def _smaller(steps: list[Step]) -> Iterator[list[Step]]:
    size = max(len(steps) // 2, 1)
    while size:
        for start in range(0, len(steps), size):
            yield steps[:start] + steps[start + size :]
        size //= 2
    for index, step in enumerate(steps):
        if isinstance(step, Send):
            for simpler in _simpler(step):
                yield [*steps[:index], simpler, *steps[index + 1 :]]


def _simpler(step: Send) -> Iterator[Send]:
    if step.cuts:
        yield replace(step, cuts=())
    frames = list(_frames(step.data))
    if len(frames) > 1:
        for index in range(len(frames)):
            yield replace(step, data=b"".join(frames[:index] + frames[index + 1 :]), cuts=())


def _frames(data: bytes) -> Iterator[bytes]:
    """The frames in `data`, and last the rest, which is not a whole frame."""
    while len(data) >= 4:
        (size,) = struct.unpack_from(">i", data)
        if size < 0 or len(data) < 4 + size:
            break
        yield data[: 4 + size]
        data = data[4 + size :]
    if data:
        yield data
