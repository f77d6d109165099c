"""Operations on the cluster's clock and its trace."""

from typing import Annotated, Any, TypedDict

from .registry import operation
from .target import Target


class ClockState(TypedDict):
    """Unix time of the cluster."""

    now_ms: int


@operation("clock show", "GET", "/clock")
def show(target: Target) -> ClockState:
    """Shows the cluster's time."""
    return {"now_ms": target.cluster.now_ms}


@operation("clock advance", "POST", "/clock/advance")
def advance(target: Target, by: Annotated[str, "7d, 1h30m, 500ms: units ms, s, m, h and d."]) -> ClockState:
    """Moves the clock ahead: everything that is due by then happens, in order."""
    target.advance(by)
    return show(target)


@operation("trace list", "GET", "/trace")
def events(
    target: Target,
    kind: Annotated[str | None, "List only this kind: request, answer, leader, …"] = None,
    api: Annotated[str | None, "List only requests and answers of this API."] = None,
    topic: Annotated[str | None, "List only events about this topic."] = None,
    group: Annotated[str | None, "List only events about this group."] = None,
    since: Annotated[int, "List only events with a higher number."] = 0,
) -> list[dict[str, Any]]:
    """Lists the last events, oldest first. Unless the trace is on, events are kept only from the first
    call."""
    target.watch()
    wanted = {"api": api, "topic": topic, "group": group}
    given = {name: value for name, value in wanted.items() if value is not None}
    return [event.row() for event in target.trace.find(kind, **given) if event.number > since]


@operation("trace last", "GET", "/trace/last")
def last(target: Target, most: Annotated[int, "How many lines at most."] = 40) -> list[str]:
    """Tells of the last events, a line for each, without details, as the report of a failed test does. Unless
    the trace is on, events are kept only from the first call."""
    from ..trace import decisions

    target.watch()
    return decisions.last(list(target.trace.events), most)
