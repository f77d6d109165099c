"""What a member of a share group reads from one broker: a share session, as Java's is
(`ShareConsumeRequestManager.java`, `ShareSessionHandler.java`).

It fetches, the application works on what it got, and then says what became of it: along with the next fetch,
or by itself. A session that was lost begins anew, and what the application still had is acknowledged all the
same.
"""

import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Protocol

from ..cluster.share_sessions import ENDS
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.of_share_groups import (
    AcknowledgedPartition,
    AcknowledgedTopic,
    AcknowledgementBatch,
)
from ..protocol.messages.share_acknowledge import ShareAcknowledgeRequest, ShareAcknowledgeResponse
from ..protocol.messages.share_fetch import (
    ForgottenTopic,
    ShareFetchRequest,
    ShareFetchResponse,
)
from . import batches
from .client import LEADER_GONE, RETRY_BACKOFF_MS
from .ledger import Place
from .scene import Scene
from .share_setting import ShareSetting
from .sharing import ACCEPT, GAP, REJECT, RELEASE, RENEW

_MAX_WAIT_MS: Final = 500
_FETCH_BYTES: Final = 1 << 20
_LANE: Final = "share"
_RENEWS_SINCE: Final = 2
"""Versions of both requests since which locks can be renewed, and a member says how it acquires."""
_WORK_MS: Final = (0, 300)
_LATE_MS: Final = 300
"""How much later than its lock a slow application is."""
_SAYS_ALONE: Final = 0.4
"""How often acknowledgements do not wait for the next fetch."""
_SLOW: Final = 0.04
"""How often an application is slower than its lock."""
_DRAWN: Final = ((0.70, ACCEPT), (0.82, RELEASE), (0.88, REJECT), (0.93, RENEW))
"""How often which type is drawn, as a running sum; the rest of the records the application forgets."""

Kinds = dict[Place, dict[int, int]]
"""Types of acknowledgements, by partition and offset."""


class Owner(Protocol):
    """The member, as seen from here."""

    scene: Scene
    group: str
    id: str
    setting: ShareSetting
    random: random.Random
    versions: dict[ApiKey, int]
    running: bool
    careful: bool

    def ask(
        self, broker: int, api: ApiKey, request: Any, then: Callable[[Any], None], lane: str = ""
    ) -> None: ...
    def later(self, action: Callable[[], None], delay_ms: int = RETRY_BACKOFF_MS) -> None: ...
    def tell(self, text: str) -> None: ...
    def reads_from(self, broker: int) -> set[Place]: ...
    def lost_leader(self) -> None: ...
    def gets(self, place: Place, numbers: Iterable[int]) -> bool: ...


class ShareReader:
    """One share session. `epoch` is that of the next request, 0 if it begins one."""

    def __init__(self, member: Owner, broker: int) -> None:
        self.member, self.broker = member, broker
        self.epoch = 0
        self._told: set[Place] = set()
        """The partitions of the session."""
        self._says: Kinds = {}
        """What is to be said."""
        self._busy = self._over = False
        self._closing: Callable[[], None] | None = None

    def go_on(self) -> None:
        """Fetches, unless it is at work."""
        if not self._busy and not self._over:
            self._next()

    def end(self) -> None:
        """Its member has died."""
        self._over = True

    def close(self, then: Callable[[], None]) -> None:
        """Says what is left to say, ends the session, and calls `then`."""
        if self._busy:
            self._closing = then
        else:
            self._end_session(then)

    def _end_session(self, then: Callable[[], None]) -> None:
        self._over = True
        if self.epoch == 0:
            then()
            return
        self._acknowledge(ENDS, lambda answer: then())

    # -- requests

    def _next(self) -> None:
        if self._closing is not None:
            self._busy = False
            self._end_session(self._closing)
            return
        member = self.member
        wanted = member.reads_from(self.broker)
        if not wanted and not self._told and not (self._says and self.epoch):
            self._busy = False
            return
        self._busy = True
        if self.epoch and self._says and (self._renews or member.random.random() < _SAYS_ALONE):
            self._acknowledge(self.epoch, self._acknowledged)
        else:
            self._fetch(wanted)

    @property
    def _renews(self) -> bool:
        return any(RENEW in kinds.values() for kinds in self._says.values())

    def _fetch(self, wanted: set[Place]) -> None:
        member, setting = self.member, self.member.setting
        says, self._says = (self._says, {}) if self.epoch else ({}, self._says)
        new = wanted - self._told if self.epoch else wanted
        gone = self._told - wanted if self.epoch else set()
        request = ShareFetchRequest(
            member.group,
            member.id,
            self.epoch,
            _MAX_WAIT_MS,
            1,
            _FETCH_BYTES,
            setting.records,
            setting.records,
            int(setting.strict and member.versions[ApiKey.SHARE_FETCH] >= _RENEWS_SINCE),
            topics=self._topics(says, new),
            forgotten_topics_data=[
                ForgottenTopic(self._id_of(topic), sorted(index for name, index in gone if name == topic))
                for topic in sorted({name for name, _ in gone})
            ],
        )

        def answered(answer: ShareFetchResponse | None) -> None:
            self._told = set(wanted)
            if self._heard(answer, says):
                assert answer is not None
                self._fetched(answer, says)

        member.ask(self.broker, ApiKey.SHARE_FETCH, request, self._unless_over(answered), _LANE)

    def _acknowledge(self, epoch: int, then: Callable[[ShareAcknowledgeResponse | None], None]) -> None:
        member, says = self.member, self._says
        self._says = {}
        renews = any(RENEW in kinds.values() for kinds in says.values())
        request = ShareAcknowledgeRequest(member.group, member.id, epoch, renews, self._topics(says, set()))
        self._sent = says
        member.ask(self.broker, ApiKey.SHARE_ACKNOWLEDGE, request, then, _LANE)

    def _acknowledged(self, answer: ShareAcknowledgeResponse | None) -> None:
        if self._over:
            return
        says = self._sent
        if self._heard(answer, says):
            assert answer is not None
            for place, part in self._parts(answer):
                self._settled(place, says, ErrorCode(part.error_code))
            self._next()

    def _unless_over(self, action: Callable[[Any], None]) -> Callable[[Any], None]:
        return lambda answer: None if self._over else action(answer)

    def _topics(self, says: Kinds, new: set[Place]) -> list[AcknowledgedTopic]:
        places = says.keys() | new
        return [
            AcknowledgedTopic(
                self._id_of(topic),
                [
                    AcknowledgedPartition(index, list(_in_batches(says.get((topic, index), {}))))
                    for index in sorted(each for name, each in places if name == topic)
                ],
            )
            for topic in sorted({name for name, _ in places})
        ]

    def _id_of(self, topic: str) -> Any:
        return self.member.scene.cluster.topics[topic].id

    # -- answers

    def _heard(self, answer: Any, says: Kinds) -> bool:
        """Whether the session goes on."""
        if answer is not None and not answer.error_code:
            self.epoch += 1
            return True
        if answer is not None:
            self.member.tell(f"is told {ErrorCode(answer.error_code).name} by broker {self.broker}")
        else:
            self.member.lost_leader()
        self.epoch, self._told = 0, set()
        self.member.later(self._again)
        return False

    def _again(self) -> None:
        if not self._over:
            self._next()

    def _fetched(self, answer: ShareFetchResponse, says: Kinds) -> None:
        got: list[tuple[Place, dict[int, int | None]]] = []
        for place, part in self._parts(answer):
            self._settled(place, says, ErrorCode(part.acknowledge_error_code))
            if part.error_code in LEADER_GONE:
                self.member.lost_leader()
            if part.acquired_records:
                got.append((place, self._records(place, part)))
        failed = any(part.error_code for _, part in self._parts(answer))
        if got:
            self._work(got)
        elif failed:
            self.member.later(self._again)
        else:
            self._next()

    def _parts(self, answer: Any) -> Iterator[tuple[Place, Any]]:
        for topic in answer.responses:
            known = self.member.scene.cluster.topic_ids.get(topic.topic_id)
            if known is not None:
                for part in topic.partitions:
                    yield (known.name, part.partition_index), part

    def _records(self, place: Place, part: Any) -> dict[int, int | None]:
        """The number at each offset that was acquired; None where there is no record."""
        there: dict[int, int] = {}
        for batch in part.records or ():
            found = batches.read(batch)
            if found is not None:
                there.update(zip(found.offsets, found.numbers, strict=True))
        got: dict[int, int | None] = {}
        for each in part.acquired_records:
            for offset in range(each.first_offset, each.last_offset + 1):
                got[offset] = there.get(offset)
            if self.member.scene.recording:
                self.member.tell(
                    f"gets offsets {each.first_offset} to {each.last_offset} of {place[0]}-{place[1]}, "
                    f"delivery {each.delivery_count}"
                )
        return got

    def _settled(self, place: Place, says: Kinds, error: ErrorCode) -> None:
        """What it said was answered. Who has renewed a lock goes on working."""
        said = says.get(place)
        if not said:
            return
        if self.member.scene.recording:
            told = f", and is told {error.name}" if error else ""
            self.member.tell(f"says {_in_words(said)} of {place[0]}-{place[1]}{told}")
        renewed = [offset for offset, kind in said.items() if kind == RENEW]
        if renewed and not error:
            self._decide_later(place, renewed, self._draw(_WORK_MS))

    # -- the application

    def _work(self, got: list[tuple[Place, dict[int, int | None]]]) -> None:
        """The application gets records; nothing is fetched until it is done with them."""
        member = self.member
        for place, found in got:
            if not member.gets(place, [number for number in found.values() if number is not None]):
                return
        work_ms = 0 if member.careful else self._draw(_WORK_MS)
        if not member.careful and member.random.random() < _SLOW:
            work_ms = member.setting.lock_ms + _LATE_MS

        def done() -> None:
            if self._over:
                return
            for place, found in got:
                gaps = [offset for offset, number in found.items() if number is None]
                self._say(place, gaps, GAP)
                self._decide(place, [offset for offset, number in found.items() if number is not None])
            self._next()

        member.later(done, work_ms)

    def _decide(self, place: Place, offsets: list[int]) -> None:
        """What the application says of records."""
        member = self.member
        if member.careful or member.setting.implicit:
            self._say(place, offsets, ACCEPT)
            return
        renews = member.versions[ApiKey.SHARE_ACKNOWLEDGE] >= _RENEWS_SINCE
        for offset in offsets:
            drawn = member.random.random()
            kind = next((kind for below, kind in _DRAWN if drawn < below), None)
            if kind is None:
                self._decide_later(place, [offset], member.setting.lock_ms + _LATE_MS)
            else:
                self._say(place, [offset], RELEASE if kind == RENEW and not renews else kind)

    def _decide_later(self, place: Place, offsets: list[int], delay_ms: int) -> None:
        """It says so with whatever is said next."""

        def decide() -> None:
            if not self._over:
                self._say(place, offsets, ACCEPT)
                self.go_on()

        self.member.later(decide, delay_ms)

    def _say(self, place: Place, offsets: Iterable[int], kind: int) -> None:
        for offset in offsets:
            self._says.setdefault(place, {})[offset] = kind

    def _draw(self, ends: tuple[int, int]) -> int:
        return self.member.random.randrange(*ends)


def _in_batches(kinds: dict[int, int]) -> Iterator[AcknowledgementBatch]:
    """Neighbours in one batch, with one type if they all have the same."""
    for run in _runs(kinds):
        types = [kinds[offset] for offset in run]
        yield AcknowledgementBatch(run[0], run[-1], types[:1] if len(set(types)) == 1 else types)


def _runs(kinds: dict[int, int]) -> Iterator[list[int]]:
    run: list[int] = []
    for offset in sorted(kinds):
        if run and offset != run[-1] + 1:
            yield run
            run = []
        run.append(offset)
    if run:
        yield run


_NAMES: Final = {GAP: "gap", ACCEPT: "accept", RELEASE: "release", REJECT: "reject", RENEW: "renew"}


def _in_words(kinds: dict[int, int]) -> str:
    """As in `accept 0, 1; release 2`."""
    said: dict[str, list[int]] = {}
    for offset, kind in sorted(kinds.items()):
        said.setdefault(_NAMES[kind], []).append(offset)
    return "; ".join(f"{name} {', '.join(map(str, offsets))}" for name, offsets in said.items())
