"""Share sessions: which partitions a member of a share group reads from one broker
(`ShareSessionCache.java`, `SharePartitionManager.newContext`)."""

from collections.abc import Callable, Container, Iterable, Iterator
from functools import partial
from typing import Final, NamedTuple
from uuid import UUID

from ..outcome import Client
from ..protocol.api_error import ApiError
from ..protocol.errors import ErrorCode

E = ErrorCode
BEGINS: Final = 0
ENDS: Final = -1
_LAST_EPOCH: Final = 0x7FFFFFFF


class Place(NamedTuple):
    """A partition by topic id."""

    topic_id: UUID | None
    partition: int


class Member(NamedTuple):
    group: str
    id: str


class ShareSession:
    """`epoch` is that of the next request. `told` are the partitions, with whether the next answer has them
    in any case."""

    def __init__(self, member: Member, client: Client) -> None:
        self.member = member
        self.client = client
        self.epoch = 1
        self.told: dict[Place, bool] = {}
        self._named: set[Place] = set()

    def advance(self) -> None:
        self.epoch = 1 if self.epoch == _LAST_EPOCH else self.epoch + 1

    def add(self, places: Iterable[Place], known: Container[UUID | None], *, told: bool = True) -> None:
        """`known` has the ids of topics whose names are known."""
        for each in places:
            if each not in self.told:
                self.told[each] = told
                if each.topic_id in known:
                    self._named.add(each)

    def is_named(self, place: Place) -> bool:
        """Whether the session has the name of its topic, which may be deleted."""
        return place in self._named

    def forget(self, places: Iterable[Place]) -> None:
        for each in places:
            self.told.pop(each, None)
            self._named.discard(each)

    def answers(self, place: Place, *, failed: bool, has_records: bool) -> bool:
        """Whether an answer has this partition. One that has records is read last the next time."""
        if place not in self.told:
            return failed or has_records
        must = has_records or failed or self.told[place]
        self.told[place] = failed
        if must and has_records:
            self.told[place] = self.told.pop(place)
        return must


class ShareSessions:
    """The sessions at one broker. `ended` is called with a session whose connection was closed, and `empty`
    with a group whose last member's was."""

    def __init__(self, ended: Callable[[ShareSession], None], empty: Callable[[str], None]) -> None:
        self._ended = ended
        self._empty = empty
        self._sessions: dict[Member, ShareSession] = {}
        self._members: dict[str, int] = {}

    def get(self, member: Member) -> ShareSession | None:
        return self._sessions.get(member)

    def __iter__(self) -> Iterator[ShareSession]:
        return iter(list(self._sessions.values()))

    def members(self) -> list[Member]:
        """Those that have a session."""
        return list(self._sessions)

    def begin(self, member: Member, client: Client, most: int) -> ShareSession:
        """A new session, in place of the one that the member had. ApiError SHARE_SESSION_LIMIT_REACHED."""
        self.remove(member)
        if len(self._sessions) >= most:
            raise ApiError(E.SHARE_SESSION_LIMIT_REACHED)
        session = self._sessions[member] = ShareSession(member, client)
        self._members[member.group] = self._members.get(member.group, 0) + 1
        client.when_closed = partial(self._closed, session)
        return session

    def next(self, member: Member, epoch: int) -> ShareSession:
        """The session of a request with that epoch. ApiError SHARE_SESSION_NOT_FOUND,
        INVALID_SHARE_SESSION_EPOCH."""
        session = self._sessions.get(member)
        if session is None:
            raise ApiError(E.SHARE_SESSION_NOT_FOUND)
        if epoch != ENDS:
            if session.epoch != epoch:
                raise ApiError(E.INVALID_SHARE_SESSION_EPOCH)
            session.advance()
        return session

    def remove(self, member: Member) -> ShareSession | None:
        session = self._sessions.pop(member, None)
        if session is not None:
            self._members[member.group] -= 1
        return session

    def _closed(self, session: ShareSession) -> None:
        """The connection by which the session began was closed."""
        member = session.member
        if self._sessions.get(member) is session:
            self.remove(member)
            self._ended(session)
        if not self._members.get(member.group):
            self._members.pop(member.group, None)
            self._empty(member.group)
