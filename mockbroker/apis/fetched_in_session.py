"""A consumer's Fetch in a session of many partitions, which reads those that are due (`FetchSession`)."""

from collections.abc import Callable, Generator
from typing import Any, Final

from ..cluster.call import Call
from ..cluster.fetch_session import CachedPartition, FetchSession, Key
from ..cluster.fetch_sessions import FetchContext
from ..portions import portions
from ..protocol.messages.fetch import PartitionData
from ..replication.replica_selector import RACK_AWARE
from .fetch_waiting import LongReading, LongWaiting, Place, T, place
from .fetched_partitions import READ_PER_PART, Read, Reading

SEVERAL: Final = 16
"""A session of more partitions than this remembers which of them are due."""


def reading_of(call: Call, context: FetchContext) -> LongReading:
    """How a request reads its partitions: those that are due, if its session knows which are."""
    session = _session_of(call, context)
    return LongReading(call, context) if session is None else SessionReading(call, context, session)


def _session_of(call: Call, context: FetchContext) -> FetchSession | None:
    """The session of a request that may read what is due only: a consumer's, who is not sent to other
    replicas, while no other request of the session is under way."""
    session, request = context.session, context.request
    if session is None or not context.incremental or session.reader is not None or context.size <= SEVERAL:
        return None
    if request.replica_state.replica_id >= 0:
        return None
    configs = call.environment.configs
    if request.rack_id and configs.broker_text("replica.selector.class") == RACK_AWARE:
        return None
    return session


class SessionReading(LongReading):
    """Reads what is due for one request, again and again while that waits.

    `places` says where partitions were read when it began to wait, `waits` is called when there is more, and
    `gone` says whether a partition is no longer what it was then.
    """

    def __init__(self, call: Call, context: FetchContext, session: FetchSession) -> None:
        super().__init__(call, context)
        self.session = session
        self.places: dict[Key, Place] = {}
        self.waits: Callable[[int], None] | None = None
        self.gone = False
        self._to_tell: dict[Key, PartitionData] = {}
        """What was read of partitions that rest now, and that the client does not know yet."""
        session.reader = self

    def stirred(self, cached: CachedPartition, size: int | None) -> None:
        if cached.replica is not None and cached.key not in self.places:
            self.places[cached.key] = cached.replica, cached.asked.fetch_offset, cached.segment
        if size is not None and self.waits is not None:
            self.waits(size)

    def read(self, again: bool = False) -> Generator[None, None, Read]:
        """What can be read now, and what is still to be told."""
        session, request = self.session, self.context.request
        while session.likeness != (likeness := self._likeness()):
            session.likeness = likeness
            yield from session.stir_all()
        found = Reading(self.call, self.context, again)
        committed = bool(request.isolation_level)
        for few in portions(session.in_turn(), READ_PER_PART):
            done = len(found.results)
            found.take([(cached.key, cached.asked) for cached in few])
            for cached in few:
                self._to_tell.pop(cached.key, None)
                replica, before = found.partitions.get(cached.key), self.places.get(cached.key)
                if again and replica is not (before and before[0]):
                    self.gone = True
                if replica is None:
                    cached.let_go()
            for key, result in found.results[done:]:
                if session.was_read(key, found.partitions[key], result, committed):
                    self._to_tell[key] = result
            yield
        return self._with_what_rests(found)

    def _with_what_rests(self, found: Reading) -> Read:
        session = self.session
        if self._to_tell:
            results = self._to_tell | dict(found.results)
            found.results = [(key, results[key]) for key in session.in_order(results)]
        return found.whole(others=len(session.due) < len(session.partitions))

    def _likeness(self) -> tuple[Any, ...]:
        """While this stays the same, a partition that rests does so for the request too."""
        call, request = self.call, self.context.request
        return (
            call.version,
            request.isolation_level,
            request.rack_id,
            call.environment.policies.changes,
            call.cluster.controller.metadata.end_offset,
        )

    def waiting(self, found: Read, answer: Callable[[Read], Any]) -> LongWaiting:
        return SessionWaiting(self, found, answer)

    def end(self, answering: Generator[None, None, T]) -> Generator[None, None, T]:
        """Answers; then another request may read what is due. If that fails, none does."""
        answer = yield from answering
        self.session.reader = None
        if self.session.ended:
            yield from self.session.end()
        return answer


class SessionWaiting(LongWaiting):
    """A Fetch in a session that waits. Partitions that are led here tell the session of changes."""

    __slots__ = ()
    _reading: SessionReading

    def __init__(self, reading: SessionReading, found: Read, answer: Callable[[Read], Any]) -> None:
        super().__init__(reading, found, answer)
        self.places = reading.places

    def begin_in_parts(self, found: Read) -> Generator[None, None, None]:
        self._looks = True
        self._set_timer()
        partitions = self._reading.session.partitions
        for few in portions(list(found.partitions.items())):
            for key, partition in few:
                if key in partitions:
                    self.places[key] = place(partition, partitions[key].asked.fetch_offset)
                if not partition.leads:
                    self.partitions.append(partition)
                    partition.waiting.add(self.arrived)
            yield
        self.context.awaited = self.places
        self._reading.waits = self.arrived
        self._looks = False
        self.look()

    def _gone(self, found: Read) -> bool:
        return self._reading.gone

    def _forget(self) -> None:
        super()._forget()
        self._reading.waits = None
