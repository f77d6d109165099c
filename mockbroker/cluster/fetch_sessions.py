"""Incremental fetch sessions of one broker (KIP-227; `FetchSession.java`).

A consumer of a thousand partitions would name them all in each Fetch, and get them all in each answer,
although hardly any has changed. In a session both sides remember them: a request names what it adds,
changes or forgets, and an answer has the partitions with records, an error, or another high watermark or
log start offset.

The client proposes, the broker decides. Session id 0 with epoch 0 asks for a session, id 0 with epoch -1
for none. The broker answers with the id of a new one, or with 0 if it has no room: then the client names
everything again next time. Each further request has the epoch after the last, by which both notice that a
request or an answer was lost (INVALID_FETCH_SESSION_EPOCH), since what they remember may differ then. A
session belongs to its broker's memory alone: it ends with the broker's process, by epoch -1 or 0 in a
request that names it, or when another one takes its slot (FETCH_SESSION_ID_NOT_FOUND). In each of these
cases the client begins anew with a full request, and loses nothing: its positions are its own.
"""

from collections.abc import Container, Generator, Mapping
from typing import Final

from ..environment import Environment
from ..policies.fetching.fetch_of_nameless_topic import fetch_of_nameless_topic
from ..policies.fetching.fetch_session_shards import fetch_session_shards
from ..policies.fetching.session_leader_epoch import session_leader_epoch
from ..policies.fetching.session_use import session_use
from ..portions import PORTION, at_once
from ..protocol.errors import ErrorCode
from ..protocol.messages.fetch import FetchPartition, FetchRequest, PartitionData
from .fetch_session import FetchSession, Key

FINAL_EPOCH: Final = -1
"""The session epoch of a request without a session, or of one that ends a session."""
INITIAL_EPOCH: Final = 0
EVICTION_MS: Final = 120_000
"""A session used for less than this is not evicted by a larger one; a session idle for longer is evicted by
any."""
MOST_PARTITIONS: Final = 100_000
"""The most partitions in all sessions of a broker: a request with more is served without a session, and a
session that grows beyond that is evicted. Kafka limits only the number of sessions."""
_LAST_EPOCH: Final = 2147483647

_SHARDS: Final = 8
_SHARD: Final = _LAST_EPOCH // _SHARDS
"""The number of session ids in a shard (KAFKA-9401); a broker fails on an id that is in none."""


class FetchContext:
    """What one Fetch is about: the partitions to read, and how to answer.

    `error` is that of the whole request: FETCH_SESSION_ID_NOT_FOUND, INVALID_FETCH_SESSION_EPOCH or
    FETCH_SESSION_TOPIC_ID_ERROR; UNKNOWN_SERVER_ERROR if a broker fails on it.
    """

    __slots__ = ("_asked", "awaited", "error", "incremental", "request", "session")

    def __init__(
        self,
        request: FetchRequest,
        session: FetchSession | None = None,
        incremental: bool = False,
        error: ErrorCode = ErrorCode.NONE,
    ) -> None:
        self.request = request
        self.session = session
        self.incremental = incremental
        self.error = error
        self._asked: dict[Key, FetchPartition] = {}
        """What is asked for without a session."""
        self.awaited: Container[Key] = ()
        """Partitions that existed when the request began to wait."""

    def take(self) -> "Generator[None, None, FetchContext]":
        """Takes the partitions from the request, if there is no session."""
        count = 0
        for topic in self.request.topics if self.session is None else ():
            for asked in topic.partitions:
                count += 1
                if not count % PORTION:
                    yield
                self._asked[topic.topic, topic.topic_id, asked.partition] = asked
        return self

    @property
    def size(self) -> int:
        """How many partitions there are."""
        return len(self._asked if self.session is None else self.session.partitions)

    def partitions(self) -> Mapping[Key, FetchPartition]:
        """In the order in which they are read."""
        if self.session is None:
            return self._asked
        return {key: cached.asked for key, cached in self.session.partitions.items()}

    def know(self, key: Key) -> None:
        """Remembers in the session that the topic with this id exists."""
        cached = self.session and self.session.partitions.get(key)
        if cached:
            cached.existed = True

    def knew(self, key: Key) -> bool:
        """Whether the topic existed when the session last read it, or when the request began to wait."""
        if self.session is None:
            return key in self.awaited
        cached = self.session.partitions.get(key)
        return cached is not None and cached.existed

    def answered(
        self, results: list[tuple[Key, PartitionData]]
    ) -> Generator[None, None, list[tuple[Key, PartitionData]]]:
        """What the answer includes: everything, or what has changed since the session's last answer."""
        session = self.session
        if session is None:
            return results
        if not self.incremental:
            # The order stays that of the first answer (`FullFetchContext`).
            found = ((key, session.partitions.get(key)) for key, _ in results)
            session.partitions = {key: cached for key, cached in found if cached is not None}
        kept = []
        for number, (key, result) in enumerate(results, 1):
            if not number % PORTION:
                yield
            cached = session.partitions.get(key)
            if cached is None:
                continue
            if not self.incremental:
                cached.turn = session.next_turn()
            if cached.changed(result) or not self.incremental:
                kept.append((key, result))
                if self.incremental and result.records:
                    session.served(key)
        return kept


def _nameless(request: FetchRequest) -> bool:
    """Whether a topic has neither name nor id."""
    return any(topic.topic_id is None and topic.partitions for topic in request.topics) or any(
        topic.topic_id is None and topic.partitions for topic in request.forgotten_topics_data
    )


class FetchSessions:
    """The sessions of a broker: at most `max.incremental.fetch.session.cache.slots`, with at most
    MOST_PARTITIONS together."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._slots = environment.configs.broker_int("max.incremental.fetch.session.cache.slots")
        self.sessions: dict[int, FetchSession] = {}

    def context(self, request: FetchRequest, version: int) -> Generator[None, None, FetchContext]:
        """The context of a request, which begins, continues or ends a session."""
        session_id, epoch = request.session_id, request.session_epoch
        if version < 7 or (epoch == FINAL_EPOCH and session_id == 0):
            return (yield from FetchContext(request).take())
        sharded = self._environment.policies[fetch_session_shards] == "eight"
        if session_id and sharded and not 0 <= int(session_id / _SHARD) < _SHARDS:
            return FetchContext(request, error=ErrorCode.UNKNOWN_SERVER_ERROR)
        fails = (
            version >= 13
            and self._environment.policies[fetch_of_nameless_topic] == "fails"
            and _nameless(request)
        )
        if epoch in (FINAL_EPOCH, INITIAL_EPOCH):
            yield from self._end(session_id)
            if epoch == FINAL_EPOCH:
                return (yield from FetchContext(request).take())
            if fails:
                return FetchContext(request, error=ErrorCode.UNKNOWN_SERVER_ERROR)
            session = yield from self._create(request, version >= 13)
            return (yield from FetchContext(request, session).take())
        session = self.sessions.get(session_id)
        if session is None:
            return FetchContext(request, error=ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if session.epoch != epoch:
            return FetchContext(request, error=ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        if session.by_id != (version >= 13):
            return FetchContext(request, error=ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)
        if fails:
            return FetchContext(request, error=ErrorCode.UNKNOWN_SERVER_ERROR)
        keeps_epochs = self._environment.policies[session_leader_epoch] == "kept"
        yield from session.take(request, keeps_epochs)
        session.forget(request)
        if request.topics and self._partitions() > MOST_PARTITIONS:
            yield from self._end(session_id)
            return FetchContext(request, error=ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if not keeps_epochs:
            yield from session.forget_epochs()
        if not session.partitions:
            yield from self._end(session_id)
            return (yield from FetchContext(request).take())
        if self._environment.policies[session_use] == "requests":
            session.used_ms = self._environment.now_ms
        session.epoch = 1 if session.epoch == _LAST_EPOCH else session.epoch + 1
        return FetchContext(request, session, incremental=True)

    def _create(self, request: FetchRequest, by_id: bool) -> Generator[None, None, FetchSession | None]:
        size = sum(len(topic.partitions) for topic in request.topics)
        there_is_room = yield from self._make_room(size)
        if not there_is_room or self._partitions() + size > MOST_PARTITIONS:
            return None
        session_id = 0
        while session_id == 0 or session_id in self.sessions:
            session_id = self._environment.random("fetch sessions").randrange(1, 1 << 31)
        session = self.sessions[session_id] = FetchSession(session_id, by_id, self._environment.now_ms)
        yield from session.take(request)
        return session

    def _partitions(self) -> int:
        return sum(len(session.partitions) for session in self.sessions.values())

    def _make_room(self, size: int) -> Generator[None, None, bool]:
        """Whether another session fits, after evicting an idle one, or an old one that is smaller."""
        if len(self.sessions) < self._slots:
            return True
        if not self.sessions:
            return False
        now_ms = self._environment.now_ms
        idle = min(self.sessions.values(), key=lambda s: s.used_ms)
        if now_ms - idle.used_ms > EVICTION_MS:
            yield from self._end(idle.id)
            return True
        old = [s for s in self.sessions.values() if now_ms - s.created_ms > EVICTION_MS]
        smallest = min(old, key=lambda s: (len(s.partitions), s.created_ms), default=None)
        if smallest is None or len(smallest.partitions) >= size:
            return False
        yield from self._end(smallest.id)
        return True

    def _end(self, session_id: int) -> Generator[None, None, None]:
        session = self.sessions.pop(session_id, None)
        if session is not None:
            yield from session.end()

    def clear(self) -> None:
        """Ends all sessions."""
        for session_id in list(self.sessions):
            at_once(self._end(session_id))
