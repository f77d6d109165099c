"""A recording as a trace, for the page that shows traces."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from ..addresses import joined
from ..captures import Message
from ..recordings.exchanges import brokers, messages, steps
from ..recordings.file import Recording, read
from ..trace import Event
from ..trace.events import Answer, Keyframe, Request
from ..trace.files import JsonLines
from ..trace.plain import errors
from .failing import say

_NAMING: Final = ("name", "topic", "group_id", "transactional_id")


def write_trace(path: Path, made: Path) -> None:
    """RecordingError, OSError."""
    recording = read(path)
    if recording.cut is not None:
        say(f"mockbroker view: {path} was cut off, {recording.cut}: what is before that is shown")
    with made.open("w") as file:
        lines = JsonLines(file)
        for event in events(recording):
            lines(event)


def events(recording: Recording) -> Iterator[Event]:
    """A keyframe with the brokers, and then requests and answers. A broker that no answer names has a number
    above all others."""
    exchanges = [one for kind, one in steps(recording) if kind == "request"]
    numbers = {address: node for node, address in brokers(exchanges).items()}
    for one in exchanges:
        if one.broker not in numbers:
            numbers[one.broker] = max(numbers.values(), default=0) + 1
    begun = exchanges[0].at_us // 1000 if exchanges else 0
    rows = tuple(
        {"kind": "broker", "broker": each, "state": "running", "fenced": False} for each in numbers.values()
    )
    yield Keyframe(1, begun, rows)
    asked: dict[tuple[str, int], Message] = {}
    for number, each in enumerate(messages(recording), 2):
        broker = numbers.get(joined(*each.broker), -1)
        client, api = joined(*each.client), each.api
        body = each.body if isinstance(each.body, dict) else {"unreadable": each.body}
        about = (broker, client, each.client_id, api, each.version, each.correlation_id)
        time_ms = each.time_us // 1000
        if each.is_request:
            asked[(client, each.correlation_id)] = each
            yield Request(number, time_ms, *about, _names(body), body)
            continue
        request = asked.pop((client, each.correlation_id), None)
        took_ms = 0 if request is None else time_ms - request.time_us // 1000
        names = () if request is None else _names(request.body)
        failed = tuple(dict.fromkeys(errors(body)))
        yield Answer(number, time_ms, *about, names, "answer", failed, (), body, took_ms)


def _names(body: Any) -> tuple[str, ...]:
    """The topics and groups in a request."""
    found: dict[str, None] = {}
    if isinstance(body, dict):
        for name, value in body.items():
            if name in _NAMING and isinstance(value, str) and value:
                found[value] = None
            found |= dict.fromkeys(_names(value))
    elif isinstance(body, list):
        for each in body:
            found |= dict.fromkeys(_names(each))
    return tuple(found)
