"""Traces of share groups under what was wrong with brokers, and under its fix, from simulated histories."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

from mockbroker.simulation.history import draw, happen
from mockbroker.simulation.plan import Options, Plan
from mockbroker.simulation.tracing import watch
from mockbroker.trace import Event
from mockbroker.trace.files import write_json_lines

STORIES: Final = {
    "start-behind-log-start": ("moves-back", "stays", 2, "share-start-back"),
    "altered-share-offsets": ("stay", "change", 1, "share-offset-ignored"),
    "added-share-partition": ("reset", "first-record", 16, "share-records-skipped"),
    "altered-share-epoch": ("kept", "begins", 44, "share-records-skipped"),
    "log-start-in-a-batch": ("all", "there", 174, "share-stands"),
}
"""By behaviour: the answers before and after, the first seed that shows it, and what is noticed."""
_WAITING_MS: Final = 80_000


def trace_of(path: Path, behaviour: str, answer: str) -> None:
    """In the histories that get stuck members wait for some time more."""
    _, _, seed, noticed = STORIES[behaviour]
    plan = draw(seed, Options("4.4", {behaviour: answer}, share_groups=True))
    if noticed == "share-stands":
        plan = replace(plan, quiet_ms=_WAITING_MS)
    write_trace(path, plan)


def write_trace(path: Path, plan: Plan) -> None:
    events: list[Event] = []
    happen(plan, watch=lambda world: watch(world, events.append))
    write_json_lines(path, events)
