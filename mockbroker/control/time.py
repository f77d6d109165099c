"""Operations on the cluster's clock and its trace."""

from typing import Annotated, Any, TypedDict

from .registry import operation
from .target import Target


class ClockState(TypedDict):
    """Unix time of the cluster."""

    now_ms: int


@operation("clock show", "GET", "/clock")
def show(target: Target) -> ClockState:
    """What time it is in the cluster."""
    return {"now_ms": target.cluster.now_ms}


@operation("clock advance", "POST", "/clock/advance")
def advance(target: Target, by: Annotated[str, "7d, 1h30m, 500ms: units ms, s, m, h and d."]) -> ClockState:
    """Moves the time ahead: all that is due by then happens, in order."""
    target.advance(by)
    return show(target)


@operation("trace list", "GET", "/trace")
def events(
    target: Target,
    kind: Annotated[str | None, "Only this kind: request, answer, leader, …"] = None,
    api: Annotated[str | None, "Only requests and answers of this API."] = None,
    topic: Annotated[str | None, "Only what is about this topic."] = None,
    group: Annotated[str | None, "Only what is about this group."] = None,
    since: Annotated[int, "Only events with a higher number."] = 0,
) -> list[dict[str, Any]]:
    """The last events, oldest first. Nothing is kept before this is asked for, unless the trace is on."""
    target.watch()
    wanted = {"api": api, "topic": topic, "group": group}
    given = {name: value for name, value in wanted.items() if value is not None}
    return [event.row() for event in target.trace.find(kind, **given) if event.number > since]
