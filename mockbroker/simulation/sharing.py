"""A share group as its brokers are asked and answer: who was given which records, and whether that is right.

It sees requests as they arrive and answers as they leave, so that it knows more than members do. It looks at
what leaders have in memory for two things only: the start offset, and whether a leader has forgotten a
partition since, and with it locks and deliveries that were never written.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, Final, NamedTuple
from uuid import UUID

from ..cluster.broker import Broker
from ..cluster.call import Call
from ..cluster.led_share import LedShare
from ..cluster.share_sessions import ENDS, Member
from ..outcome import Client
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.share_acknowledge import ShareAcknowledgeResponse
from ..protocol.messages.share_fetch import AcquiredRecords, ShareFetchResponse
from ..share_partitions.states import RecordState
from .ledger import Place
from .scene import SHARERS, Scene
from .share_progress import ShareProgress
from .share_view import ShareView
from .shared_records import ACCEPTED, REJECTED, Given

GAP, ACCEPT, RELEASE, REJECT, RENEW = range(5)
"""Types of acknowledgements."""
_FINAL: Final = {GAP: REJECTED, ACCEPT: ACCEPTED, REJECT: REJECTED}
_SHARES: Final = frozenset({ApiKey.SHARE_FETCH, ApiKey.SHARE_ACKNOWLEDGE})
_UNKNOWN: Final = frozenset({ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.UNKNOWN_SERVER_ERROR})
"""Errors after which an acknowledgement may have been written all the same."""
_FREE_AFTER_MS: Final = 400
"""After the end of a share session, until what its member had is free."""
_ALONE_ABOVE: Final = 2
"""Above this limit, the last delivery of a record is of that record alone."""


class _Said(NamedTuple):
    place: Place
    offset: int
    kind: int
    given: Given
    deliveries: int
    """The delivery count when it was said."""
    below: bool
    """Whether the leader's start offset was past it: then nothing is written."""


class _UnderWay(NamedTuple):
    asked_ms: int
    said: list[_Said]
    acquires: bool


class _Found(NamedTuple):
    """What a member is given of a partition, acquired since `since_ms` or later. If the answer is `late`, it
    may have been let go since; `sure` is whether nobody else has got any of it without being told."""

    member: str
    ranges: list[AcquiredRecords]
    since_ms: int
    late: bool
    sure: bool


class Sharing:
    """Of one group."""

    def __init__(self, scene: Scene) -> None:
        self._cluster = scene.cluster
        self._limit, self._lock_ms = scene.plan.shares.deliveries, scene.plan.shares.lock_ms
        self._view = ShareView(scene)
        self._progress = ShareProgress(self._view, self._limit)
        self._under_way: dict[Call, _UnderWay] = {}
        self._clients: dict[Client, Member] = {}
        self._reads = False
        """Whether the group has read from the topic."""
        self._let_go_ms = 0
        """When all that was acquired was let go."""

    # -- what happens to the group

    def added(self, place: Place) -> None:
        """A partition was added: a group that reads from its topic begins with the first record."""
        self._view.place(place).began |= self._reads

    def locks_end(self, broker: int | None = None) -> None:
        """All that was acquired is let go, or all at one broker."""
        self._let_go_ms = self._cluster.now_ms
        for shared in self._view.places.values():
            for given in shared.given.values():
                if broker is None or (given.by is not None and given.by.partition.broker == broker):
                    given.until_ms = 0

    # -- what brokers are asked

    def asked(self, call: Call, api: ApiKey, request: Any) -> None:
        """A request has arrived."""
        if api is ApiKey.ALTER_SHARE_GROUP_OFFSETS:
            self._progress.altering(call, request)
        elif api in _SHARES and request.group_id == SHARERS:
            member = Member(SHARERS, request.member_id)
            self._clients[call.client] = member
            said = list(self._said(call.broker, request))
            for each in said:
                if each.kind != RENEW:
                    each.given.until_ms = 0
                if each.kind in _FINAL:
                    each.given.asked.add(call)
            self._under_way[call] = _UnderWay(self._cluster.now_ms, said, api is ApiKey.SHARE_FETCH)
            if request.share_session_epoch == ENDS:
                self._session_ends(call.broker, member)

    def _said(self, broker: Broker, request: Any) -> Iterator[_Said]:
        """What the member says of records that it was given last."""
        for topic in request.topics:
            known = self._cluster.topic_ids.get(topic.topic_id)
            if known is None:
                continue
            for part in topic.partitions:
                place = known.name, part.partition_index
                led = self._view.known(broker, place)
                start = 0 if led is None or led.share is None else led.share.start_offset
                for batch in part.acknowledgement_batches:
                    for offset in range(batch.first_offset, batch.last_offset + 1):
                        at = offset - batch.first_offset if len(batch.acknowledge_types) > 1 else 0
                        given, kind = self._view.place(place).given.get(offset), batch.acknowledge_types[at]
                        if given is not None and given.member == request.member_id:
                            yield _Said(place, offset, kind, given, given.count, offset < start)

    def closing(self, broker: Broker, client: Client) -> None:
        """A broker is about to lose the connection of a share session."""
        member = self._clients.get(client)
        if member is not None:
            self._session_ends(broker, member)

    def _session_ends(self, broker: Broker, member: Member) -> None:
        session = broker.shares.sessions.get(member)
        held: list[tuple[Place, LedShare, dict[int, int]]] = []
        for each in () if session is None else session.told:
            topic = self._cluster.topic_ids.get(each.topic_id or UUID(int=0))
            if topic is None:
                continue
            place = topic.name, each.partition
            led = self._view.known(broker, place)
            mine = {
                offset: given.times
                for offset, given in self._view.place(place).given.items()
                if given.member == member.id and given.by is led
            }
            for offset in mine:
                self._view.place(place).given[offset].until_ms = 0
            if mine and led is not None:
                held.append((place, led, mine))
        if self._view.is_healthy:
            for one in held:
                check = partial(self._check_free, member, self._view.states, *one)
                self._cluster.environment.after(_FREE_AFTER_MS, check)

    # -- what brokers answer

    def told(self, call: Call, api: ApiKey, request: Any, answer: Any) -> None:
        """An answer leaves."""
        if api is ApiKey.ALTER_SHARE_GROUP_OFFSETS:
            self._progress.altered(call, request, answer)
        elif call in self._under_way:
            under_way = self._under_way.pop(call)
            if isinstance(answer, ShareFetchResponse):
                self._fetched(call, request, answer, under_way)
            elif isinstance(answer, ShareAcknowledgeResponse):
                self._acknowledged(call, under_way, answer, "error_code")
            for place in dict.fromkeys(each.place for each in under_way.said):
                self._progress.follow(call.broker, place, sure=not self._anybody_late())

    def _acknowledged(self, call: Call, under_way: _UnderWay, answer: Any, field: str) -> None:
        codes = {
            (topic.topic_id, part.partition_index): getattr(part, field)
            for topic in answer.responses
            for part in topic.partitions
        }
        for each in under_way.said:
            topic_id = self._cluster.topics[each.place[0]].id
            error = answer.error_code or codes.get((topic_id, each.place[1]))
            if error == ErrorCode.NONE:
                self._taken(call, each, under_way.asked_ms)
            elif error is not None and error not in _UNKNOWN:
                each.given.asked.discard(call)

    def _taken(self, call: Call, said: _Said, asked_ms: int) -> None:
        """An acknowledgement was answered without an error."""
        given, shared, led = (
            said.given,
            self._view.place(said.place),
            self._view.known(call.broker, said.place),
        )
        if said.kind == RENEW:
            if given.by is led and given.until_ms:
                given.until_ms = max(given.until_ms, asked_ms + self._lock_ms)
            return
        if said.below or shared.given.get(said.offset) is not given:
            # Nothing is written, or the group has begun anew meanwhile.
            return
        if led is not None and led in shared.stale:
            self._progress.goes_on(said.place, shared, led)
        elif shared.is_judged(led):
            shared.began = True
            if said.kind == RELEASE:
                given.written = max(given.written, said.deliveries)
            else:
                given.final = _FINAL[said.kind]

    def _fetched(self, call: Call, request: Any, answer: ShareFetchResponse, under_way: _UnderWay) -> None:
        self._acknowledged(call, under_way, answer, "acknowledge_error_code")
        # Who waits for a write has acquired before, and so may others since.
        since_ms = under_way.asked_ms if under_way.said else self._cluster.now_ms
        late, others = self._is_late(under_way), self._anybody_late()
        sure = not (late or others or call.client.gone or any(each.client.gone for each in self._under_way))
        for topic in answer.responses:
            for part in topic.partitions:
                known = self._cluster.topic_ids.get(topic.topic_id or UUID(int=0))
                if known is not None and not part.error_code:
                    place = known.name, part.partition_index
                    self._reads = self._reads or self._view.known(call.broker, place) is not None
                    found = _Found(request.member_id, part.acquired_records, since_ms, late, sure)
                    self._acquired(call, place, found)
                    self._progress.follow(call.broker, place, sure=not others)

    def _anybody_late(self) -> bool:
        """Whether somebody is not answered yet who has acquired records that may have been let go since."""
        return any(map(self._is_late, self._under_way.values()))

    def _is_late(self, under_way: _UnderWay) -> bool:
        """Whether it has acquired records, and has waited for a write for so long that they may have been let
        go since."""
        let_go_ms = max(self._let_go_ms, self._cluster.now_ms - self._lock_ms)
        return under_way.acquires and bool(under_way.said) and under_way.asked_ms <= let_go_ms

    def _acquired(self, call: Call, place: Place, found: _Found) -> None:
        shared, led = self._view.place(place), self._view.known(call.broker, place)
        judged = (
            self._view.is_leader(call.broker, place)
            and not self._view.excused(place)
            and shared.is_judged(led)
        )
        member, ranges = found.member, found.ranges
        last = [each for each in ranges if each.delivery_count >= self._limit]
        if last and self._limit > _ALONE_ABOVE and judged:
            count = sum(each.last_offset - each.first_offset + 1 for each in ranges)
            if count > 1:
                self._view.violated(
                    "last-delivery-shared",
                    place,
                    f"{member} gets {last[0].first_offset} the last time, along with {count - 1} others",
                )
        for each in ranges:
            for offset in range(each.first_offset, each.last_offset + 1):
                given = shared.of(offset)
                if found.late and given.count > each.delivery_count:
                    # Another has got it since.
                    given.times += 1
                    continue
                if judged:
                    self._check(place, offset, given, member, each.delivery_count, led, sure=found.sure)
                given.times += 1
                if call.client.gone:
                    # It is let go by now, and perhaps another has it.
                    given.count, given.by = max(given.count, each.delivery_count), None
                    continue
                if given.member and not self._view.is_leader(call.broker, place):
                    # A leader that is cut off gives what another may give, too.
                    given.apart = max(given.apart, each.delivery_count)
                    continue
                given.count, given.member = each.delivery_count, member
                given.by = led if judged and found.sure else None
                given.until_ms = found.since_ms + self._lock_ms if given.by is not None else 0

    def _check(
        self,
        place: Place,
        offset: int,
        given: Given,
        member: str,
        count: int,
        led: LedShare | None,
        *,
        sure: bool,
    ) -> None:
        what = f"{member} gets {offset}"
        altered = self._view.place(place).altered
        if altered is not None and offset < altered:
            text = f"{what}, after the group was told to begin at {altered}"
            self._view.violated("altered-offset-ignored", place, text)
        if given.final:
            self._view.violated(
                f"delivered-after-{given.final}", place, f"{what}, after {given.final} was answered"
            )
        known = given.by is led and sure
        if known and self._cluster.now_ms < given.until_ms:
            left_ms = given.until_ms - self._cluster.now_ms
            text = f"{what}, which {given.member} has locked for {left_ms} ms more"
            self._view.violated("acquired-twice", place, text)
        least = given.count + 1 if known else given.written + 1
        most = least if known else given.times + 1
        if sure and not least <= count <= min(most, self._limit):
            told = str(least) if least == most else f"{least} to {most}"
            text = f"{what} with delivery count {count}, not {told}, of {self._limit} at most"
            self._view.violated("delivery-count-wrong", place, text)

    def check_end(self) -> None:
        """Once it is quiet: everything was delivered until it was done."""
        self._progress.check_end()

    def _check_free(
        self, member: Member, states: tuple[int, int], place: Place, led: LedShare, held: dict[int, int]
    ) -> None:
        """What the member had when its session ended nobody has locked for it."""
        share = led.active()
        if (
            share is None
            or states != self._view.states
            or not self._view.is_healthy
            or self._view.excused(place)
        ):
            return
        given = self._view.place(place).given
        for first, last, each in share.parts():
            if each.state is RecordState.ACQUIRED and each.member == member.id:
                kept = [n for n in range(first, last + 1) if n in held and given[n].times == held[n]]
                if kept:
                    text = f"{kept[0]} is still locked for {member.id}, whose share session has ended"
                    self._view.violated("locked-after-session", place, text)
                    return
