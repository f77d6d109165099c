"""What became of everything, for pages that can't read all events: of those that tell the state of the same
thing, the last one, and of the requests of a connection one of each API, with its answer."""

from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from ..trace import events, group_events

if TYPE_CHECKING:
    from ..trace import Event

_OF_PARTITION: Final = attrgetter("topic", "partition")
_ABOUT: "Final[dict[type[Event], Callable[[Any], object]]]" = {
    events.Topic: attrgetter("topic"),
    events.HighWatermark: _OF_PARTITION,
    events.Replica: attrgetter("topic", "partition", "broker"),
    events.Producer: attrgetter("topic", "partition", "producer_id"),
    events.Committed: attrgetter("topic", "partition", "group"),
    events.Image: attrgetter("broker"),
    events.Decision: attrgetter("name"),
    group_events.Group: attrgetter("group"),
    group_events.Member: attrgetter("group", "member_id"),
    group_events.SharePartition: attrgetter("topic", "partition", "group"),
    group_events.ShareSession: attrgetter("broker", "group", "member_id"),
    events.Transaction: attrgetter("transactional_id"),
}
"""What an event supersedes. All other kinds but requests and answers are told one by one."""
_EXCHANGE: Final = attrgetter("connection", "api")

_Told = tuple[tuple[int, bytes], ...]
"""The numbers and lines of events that belong together."""


class Latest:
    """Is given events with their lines. It keeps what came since the last keyframe, that included."""

    def __init__(self) -> None:
        self._told: dict[object, _Told] = {}
        """In the order in which they came."""
        self._asked: dict[object, tuple[int, int, bytes]] = {}
        """Requests without an answer: correlation id, number and line."""
        self._made: tuple[tuple[int, int], bytes] = (0, 0), b""
        self._last = 0

    def __call__(self, event: "Event", line: bytes) -> None:
        kind, self._last = type(event), event.number
        about: object
        if kind is events.Request:
            self._asked.setdefault(_EXCHANGE(event), (event.correlation_id, event.number, line))  # type: ignore[attr-defined]
            return
        told: _Told = ((event.number, line),)
        if kind is events.Answer:
            about = _EXCHANGE(event)
            asked = self._asked.get(about)
            if asked is None or asked[0] != event.correlation_id:  # type: ignore[attr-defined]
                return
            del self._asked[about]
            told = (asked[1:], *told)
        elif kind is events.Keyframe:
            self._told.clear()
            self._asked.clear()
            about = kind
        else:
            of = _ABOUT.get(kind)
            about = event.number if of is None else (kind, of(event))
        self._told.pop(about, None)
        self._told[about] = told

    def after(self, number: int) -> bytes:
        """Lines of events after this one, in their order; made once for all who ask for the same."""
        wanted = number, self._last
        if self._made[0] != wanted:
            found: list[tuple[int, bytes]] = []
            for told in reversed(self._told.values()):
                if told[-1][0] <= number:
                    break
                if told[0][0] > number:
                    found += told
            found.sort()
            self._made = wanted, b"".join(line for _, line in found)
        return self._made[1]
