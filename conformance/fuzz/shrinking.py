"""Makes a session as short as possible while it still goes wrong."""

import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Final

from ... import shrinking
from ...shrinking import fewer, simpler
from .dialogue import Finding
from .steps import Send, Session, Step

MOST_RUNS: Final = 400


def signature(finding: Finding) -> str:
    """The same text for findings that are probably the same: the kind, and the last line without numbers."""
    last = str(finding).strip().splitlines()[-1]
    return f"{finding.kind}: {re.sub('[0-9]+', 'N', last)[:100]}"


def shrink(session: Session, goes_wrong: Callable[[Session], bool], most_runs: int = MOST_RUNS) -> Session:
    """The session with the fewest and simplest steps that still goes wrong."""
    return shrinking.shrink(session, _smaller, goes_wrong, most_runs)


def _smaller(session: Session) -> Iterator[Session]:
    for steps in chain(fewer(session.steps), simpler(session.steps, _simpler)):
        yield replace(session, steps=list(steps))


def _simpler(step: Step) -> Iterator[Step]:
    if not isinstance(step, Send):
        return
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
