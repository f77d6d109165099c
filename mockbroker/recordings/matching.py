"""Which recorded exchange a request of a client is."""

import dataclasses
from collections import defaultdict, deque
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Final, NamedTuple
from uuid import UUID

from ..trace.plain import plain
from .exchanges import Exchange
from .messages import UNREADABLE, Asked, changed, entities, read_answer, read_request
from .positions import Positions, has_one_of, positions

_LEFT_OUT: Final = frozenset(
    {
        "session_id",
        "session_epoch",
        "share_session_epoch",
        "commit_timestamp",
        "reason",
        "metrics",
        "subscription_id",
        "client_instance_id",
    }
)
"""What clients draw, or what depends on the time."""
_OF_BATCHES: Final = ("producer_id", "producer_epoch", "base_sequence", "records")
_NAMES: Final = frozenset(
    {"topic", "name", "topic_id", "group_id", "transactional_id", "key", "coordinator_keys", "resource_name"}
)
_DRAWN_BY_CLIENTS: Final = frozenset(
    {"consumer_group_heartbeat", "share_group_heartbeat", "streams_group_heartbeat"}
)
"""A member of these groups draws its own id (KIP-1082)."""
HEARTBEAT: Final = "heartbeat"
_FETCH: Final = "fetch"
_FETCHES: Final = frozenset({_FETCH, "share_fetch"})


class Found(NamedTuple):
    """`differs`: it is not what was asked for, but has the same names. `again`: it was given before.
    `elsewhere`: its records are not those that were asked for."""

    exchange: Exchange
    differs: bool
    again: bool
    elsewhere: bool = False


def content(body: Any) -> dict[str, Any]:
    """What a request says, as plain values, without what is different each time."""
    value: dict[str, Any] = _without(plain(body))
    return value


def _without(value: Any) -> Any:
    if isinstance(value, dict):
        if "base_offset" in value and "base_sequence" in value:
            return {name: value[name] for name in _OF_BATCHES}
        return {name: _without(inner) for name, inner in value.items() if name not in _LEFT_OUT}
    return [_without(each) for each in value] if isinstance(value, list) else value


def names(body: Any) -> frozenset[Hashable]:
    """The topics, groups and the like that a request names."""
    found: set[Hashable] = set()
    for entity in entities(body):
        for each in dataclasses.fields(entity):
            value = getattr(entity, each.name)
            if each.name in _NAMES and isinstance(value, str | UUID):
                found.add(value)
            elif each.name in ("topics", "coordinator_keys") and isinstance(value, tuple):
                found.update(one for one in value if isinstance(one, str | UUID))
    return frozenset(found)


def _frozen(value: Any) -> Hashable:
    if isinstance(value, dict):
        return tuple((name, _frozen(inner)) for name, inner in value.items())
    return tuple(_frozen(each) for each in value) if isinstance(value, list) else value


class _Queue:
    """Exchanges in their order."""

    def __init__(self) -> None:
        self.waiting: deque[Exchange] = deque()
        self.last: Exchange | None = None


class Matcher:
    """Gives each recorded exchange once, in its order; when there are no more like it, the last one again."""

    def __init__(self, exchanges: Iterable[Exchange]) -> None:
        self._used: set[int] = set()
        self._exact: Mapping[Hashable, _Queue] = defaultdict(_Queue)
        self._alike: Mapping[Hashable, _Queue] = defaultdict(_Queue)
        self._fetched: Mapping[Hashable, _Queue] = defaultdict(_Queue)
        """By the positions from which they read."""
        self._fetches: Mapping[Hashable, list[Exchange]] = defaultdict(list)
        """By what they name."""
        self._members: dict[str, str] = {}
        self.all: list[Exchange] = []
        for one in exchanges:
            try:
                asked = read_request(one.request)
            except UNREADABLE:
                continue
            if one.answer is None and not silent(asked):
                # The client had left, or the recording ended.
                continue
            self.all.append(one)
            for broker in (one.broker, None):
                self._exact[(broker, *_exactly(asked))].waiting.append(one)
                self._alike[(broker, *_alike(asked))].waiting.append(one)
                if asked.api == _FETCH and (there := positions(asked.body)):
                    self._fetched[(broker, there)].waiting.append(one)
            if asked.api == _FETCH:
                self._fetches[_alike(asked)].append(one)

    @property
    def unused(self) -> list[Exchange]:
        """What no client asked for."""
        return [one for one in self.all if one.number not in self._used]

    def versions(self, api: str) -> set[int]:
        """Those in which it was recorded."""
        return {one.version for one in self.all if one.api == api}

    def find(self, broker: str, asked: Asked) -> Found | None:
        """The exchange for a request to the broker with this address in the recording."""
        exact, alike = _exactly(asked), _alike(asked)
        for queues, key, differs in (
            (self._exact, (broker, *exact), False),
            (self._exact, (None, *exact), False),
        ):
            if found := self._next(queues, key):
                return Found(found, differs, False)
        for here in (broker, None):
            queue = self._exact.get((here, *exact))
            if queue is not None and queue.last is not None:
                return Found(queue.last, False, True)
        if asked.api == _FETCH and (there := positions(asked.body)):
            return self._from(broker, asked, there)
        if asked.api == HEARTBEAT:
            # How many a member sends depends on the time, and those of others say nothing of it.
            return None
        for here in (broker, None):
            if found := self._next(self._alike, (here, *alike)):
                return Found(found, True, False)
        for here in (broker, None):
            queue = self._alike.get((here, *alike))
            if queue is not None and queue.last is not None and asked.api in _FETCHES:
                return Found(queue.last, True, True)
        return None

    def _from(self, broker: str, asked: Asked, there: Positions) -> Found | None:
        """A Fetch that reads from the same positions, or whose answer has a record at one of them."""
        for here in (broker, None):
            if found := self._next(self._fetched, (here, there)):
                return Found(found, True, False)
        for here in (broker, None):
            queue = self._fetched.get((here, there))
            if queue is not None and queue.last is not None:
                return Found(queue.last, True, True)
        alike = self._fetches.get(_alike(asked), [])
        for one in alike:
            if one.answer is not None and has_one_of(_answer_of(one), there):
                self._used.add(one.number)
                return Found(one, True, False)
        return Found(alike[0], True, True, elsewhere=True) if alike else None

    def _next(self, queues: Mapping[Hashable, _Queue], key: Hashable) -> Exchange | None:
        queue = queues.get(key)
        while queue is not None and queue.waiting:
            one = queue.waiting.popleft()
            queue.last = one
            if one.number not in self._used:
                self._used.add(one.number)
                return one
        return None

    def as_recorded(self, broker: str, asked: Asked) -> Asked:
        """The request with the id that the recorded member of a group had in place of the client's own."""
        if asked.api not in _DRAWN_BY_CLIENTS or not asked.body.member_id:
            return asked._replace(body=_renamed(asked.body, self._members))
        own = asked.body.member_id
        if own not in self._members and asked.body.member_epoch == 0:
            self._members[own] = self._member_of(asked) or own
        return asked._replace(body=_renamed(asked.body, self._members))

    def _member_of(self, asked: Asked) -> str | None:
        """The next recorded member that joined this group, and that no client is yet."""
        taken = set(self._members.values())
        for one in self.all:
            if one.api == asked.api:
                body = read_request(one.request).body
                same = body.group_id == asked.body.group_id and body.member_epoch == 0
                if same and body.member_id not in taken:
                    return str(body.member_id)
        return None

    def as_asked(self, body: Any) -> Any:
        """An answer with the ids that clients drew."""
        return _renamed(body, {recorded: own for own, recorded in self._members.items()})


def _answer_of(one: Exchange) -> Any:
    assert one.api is not None
    assert one.answer is not None
    return read_answer(one.api, one.version, one.answer)


def silent(asked: Asked) -> bool:
    """Whether no answer is expected."""
    return asked.api == "produce" and asked.body.acks == 0


def _renamed(body: Any, members: Mapping[str, str]) -> Any:
    if not members:
        return body

    def change(_: Any, name: str, value: Any) -> Any:
        return members.get(value, value) if name == "member_id" and isinstance(value, str) else value

    return changed(body, change)


def _exactly(asked: Asked) -> tuple[Hashable, ...]:
    return asked.api, asked.version, _frozen(content(asked.body))


def _alike(asked: Asked) -> tuple[Hashable, ...]:
    return asked.api, asked.version, names(asked.body)
