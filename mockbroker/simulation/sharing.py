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
from ..cluster.liveness import Liveness
from ..cluster.share_sessions import ENDS, Member
from ..outcome import Client
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.share_acknowledge import ShareAcknowledgeResponse
from ..protocol.messages.share_fetch import AcquiredRecords, ShareFetchResponse
from ..protocol.share_state_log import SharePartitionKey
from ..share_partitions.states import RecordState
from .ledger import Place
from .scene import SHARERS, Scene
from .shared_records import ACCEPTED, REJECTED, Given, SharedPlace

GAP, ACCEPT, RELEASE, REJECT, RENEW = range(5)
"""Types of acknowledgements."""
_FINAL: Final = {GAP: REJECTED, ACCEPT: ACCEPTED, REJECT: REJECTED}
_SHARES: Final = frozenset({ApiKey.SHARE_FETCH, ApiKey.SHARE_ACKNOWLEDGE})
_UNKNOWN: Final = frozenset({ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.UNKNOWN_SERVER_ERROR})
"""Errors after which an acknowledgement may have been written all the same."""
_FREE_AFTER_MS: Final = 400
"""After the end of a share session, until what its member had is free."""
_STATES: Final = "__share_group_state"
_ALONE_ABOVE: Final = 2
"""Above this limit, the last delivery of a record is of that record alone."""


class _Said(NamedTuple):
    place: Place
    offset: int
    kind: int
    given: Given
    deliveries: int
    """The delivery count when it was said."""
    hopes: bool
    """Whether this is the first request by which the record may be done."""
    below: bool
    """Whether the leader's start offset was past it: then nothing is written."""


class _UnderWay(NamedTuple):
    asked_ms: int
    said: list[_Said]


class Sharing:
    """Of one group."""

    def __init__(self, scene: Scene) -> None:
        self._scene, self._cluster = scene, scene.cluster
        self._limit, self._lock_ms = scene.plan.shares.deliveries, scene.plan.shares.lock_ms
        self._places: dict[Place, SharedPlace] = {}
        self._under_way: dict[Call, _UnderWay] = {}
        self._clients: dict[Client, Member] = {}
        self._reads = False
        """Whether the group has read from the topic."""
        self._told: set[tuple[str, Place]] = set()

    def place(self, place: Place) -> SharedPlace:
        found = self._places.get(place)
        if found is None:
            found = self._places[place] = SharedPlace(began=not self._scene.plan.shares.latest)
        return found

    # -- what happens to the group

    def added(self, place: Place) -> None:
        """A partition was added: a group that reads from its topic begins with the first record."""
        self.place(place).began |= self._reads

    def locks_end(self, broker: int | None = None) -> None:
        """All that was acquired is let go, or all at one broker."""
        for shared in self._places.values():
            for given in shared.given.values():
                if broker is None or (given.by is not None and given.by.partition.broker == broker):
                    given.until_ms = 0

    # -- what brokers are asked

    def asked(self, call: Call, api: ApiKey, request: Any) -> None:
        """A request has arrived."""
        if api is ApiKey.ALTER_SHARE_GROUP_OFFSETS:
            for place, _ in _altered(request):
                self.place(place).altering[call] = self._led(place)
        elif api in _SHARES and request.group_id == SHARERS:
            member = Member(SHARERS, request.member_id)
            self._clients[call.client] = member
            said = list(self._said(call.broker, request))
            for each in said:
                if each.kind != RENEW:
                    each.given.until_ms = 0
                each.given.asked |= each.kind in _FINAL
            self._under_way[call] = _UnderWay(self._cluster.now_ms, said)
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
                led = self._known(broker, place)
                start = 0 if led is None or led.share is None else led.share.start_offset
                for batch in part.acknowledgement_batches:
                    for offset in range(batch.first_offset, batch.last_offset + 1):
                        at = offset - batch.first_offset if len(batch.acknowledge_types) > 1 else 0
                        given, kind = self.place(place).given.get(offset), batch.acknowledge_types[at]
                        if given is not None and given.member == request.member_id:
                            hopes = kind in _FINAL and not given.settled
                            yield _Said(place, offset, kind, given, given.count, hopes, offset < start)

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
            led = self._known(broker, place)
            mine = {
                offset: given.times
                for offset, given in self.place(place).given.items()
                if given.member == member.id and given.by is led
            }
            for offset in mine:
                self.place(place).given[offset].until_ms = 0
            if mine and led is not None:
                held.append((place, led, mine))
        if self._is_healthy:
            for one in held:
                check = partial(self._check_free, member, self._states, *one)
                self._cluster.environment.after(_FREE_AFTER_MS, check)

    # -- what brokers answer

    def told(self, call: Call, api: ApiKey, request: Any, answer: Any) -> None:
        """An answer leaves."""
        if api is ApiKey.ALTER_SHARE_GROUP_OFFSETS:
            self._altered(call, request, answer)
        elif call in self._under_way:
            under_way = self._under_way.pop(call)
            if isinstance(answer, ShareFetchResponse):
                self._fetched(call, request, answer, under_way)
            elif isinstance(answer, ShareAcknowledgeResponse):
                self._acknowledged(call, under_way, answer, "error_code")
            for place in dict.fromkeys(each.place for each in under_way.said):
                self._follow(call.broker, place)

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
            elif error is not None and error not in _UNKNOWN and each.hopes:
                each.given.asked = False

    def _taken(self, call: Call, said: _Said, asked_ms: int) -> None:
        """An acknowledgement was answered without an error."""
        given, shared, led = said.given, self.place(said.place), self._known(call.broker, said.place)
        if said.kind == RENEW:
            if given.by is led and given.until_ms:
                given.until_ms = max(given.until_ms, asked_ms + self._lock_ms)
            return
        if said.below or shared.given.get(said.offset) is not given:
            # Nothing is written, or the group has begun anew meanwhile.
            return
        if led is not None and led in shared.stale:
            self._goes_on(said.place, shared, led)
        elif shared.is_judged(led):
            shared.began = True
            if said.kind == RELEASE:
                given.written = max(given.written, said.deliveries)
            else:
                given.final = _FINAL[said.kind]

    def _goes_on(self, place: Place, shared: SharedPlace, led: LedShare) -> None:
        """A leader that had read the state before it was altered has written it."""
        if led.share is not None and led.share.start_offset != shared.altered:
            self._violated(
                "altered-offset-ignored",
                place,
                f"broker {led.partition.broker} goes on at {led.share.start_offset}, after the group was "
                f"told to begin at {shared.altered}",
            )

    def _fetched(self, call: Call, request: Any, answer: ShareFetchResponse, under_way: _UnderWay) -> None:
        self._acknowledged(call, under_way, answer, "acknowledge_error_code")
        # Who waits for a write has acquired before, and so may others since.
        since_ms = under_way.asked_ms if under_way.said else self._cluster.now_ms
        sure = not call.client.gone and not any(each.client.gone for each in self._under_way)
        for topic in answer.responses:
            for part in topic.partitions:
                known = self._cluster.topic_ids.get(topic.topic_id or UUID(int=0))
                if known is not None and not part.error_code:
                    place = known.name, part.partition_index
                    self._reads = self._reads or self._known(call.broker, place) is not None
                    self._acquired(call, place, request.member_id, part.acquired_records, since_ms, sure=sure)
                    self._follow(call.broker, place)

    def _acquired(
        self,
        call: Call,
        place: Place,
        member: str,
        ranges: list[AcquiredRecords],
        since_ms: int,
        *,
        sure: bool,
    ) -> None:
        shared, led = self.place(place), self._known(call.broker, place)
        judged = self._is_leader(call.broker, place) and not self._excused(place) and shared.is_judged(led)
        last = [each for each in ranges if each.delivery_count >= self._limit]
        if last and self._limit > _ALONE_ABOVE and judged:
            count = sum(each.last_offset - each.first_offset + 1 for each in ranges)
            if count > 1:
                self._violated(
                    "last-delivery-shared",
                    place,
                    f"{member} gets {last[0].first_offset} the last time, along with {count - 1} others",
                )
        for each in ranges:
            for offset in range(each.first_offset, each.last_offset + 1):
                given = shared.of(offset)
                if judged:
                    self._check(place, offset, given, member, each.delivery_count, led, sure=sure)
                given.times += 1
                if call.client.gone:
                    # It is let go by now, and perhaps another has it.
                    given.count, given.by = max(given.count, each.delivery_count), None
                    continue
                if given.member and not self._is_leader(call.broker, place):
                    # A leader that is cut off gives what another may give, too.
                    continue
                given.count, given.member = each.delivery_count, member
                given.by = led if judged and sure else None
                given.until_ms = since_ms + self._lock_ms if given.by is not None else 0

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
        altered = self.place(place).altered
        if altered is not None and offset < altered:
            text = f"{what}, after the group was told to begin at {altered}"
            self._violated("altered-offset-ignored", place, text)
        if given.final:
            self._violated(
                f"delivered-after-{given.final}", place, f"{what}, after {given.final} was answered"
            )
        known = given.by is led and sure
        if known and self._cluster.now_ms < given.until_ms:
            left_ms = given.until_ms - self._cluster.now_ms
            text = f"{what}, which {given.member} has locked for {left_ms} ms more"
            self._violated("acquired-twice", place, text)
        least = given.count + 1 if known else given.written + 1
        most = least if known else given.times + 1
        if sure and not least <= count <= min(most, self._limit):
            told = str(least) if least == most else f"{least} to {most}"
            text = f"{what} with delivery count {count}, not {told}, of {self._limit} at most"
            self._violated("delivery-count-wrong", place, text)

    # -- the start offset

    def _follow(self, broker: Broker, place: Place) -> None:
        """Looks where the group is."""
        shared, led = self.place(place), self._known(broker, place)
        share = None if led is None else led.share
        if led is None or share is None or self._excused(place) or not self._is_leader(broker, place):
            return
        start = share.start_offset
        if shared.led is led:
            if start < shared.start:
                text = f"the start offset goes back from {shared.start} to {start}"
                self._violated("share-start-back", place, text)
        elif not shared.began:
            shared.checked = max(shared.checked, start)
        shared.led, shared.start = led, start
        if shared.is_judged(led) and start > shared.checked:
            skipped = self._unfinished(place, shared.checked, start)
            if skipped:
                self._violated(
                    "share-record-skipped",
                    place,
                    f"the start offset moves from {shared.checked} to {start}, past {len(skipped)} records "
                    f"that are not done, from offset {skipped[0]} on",
                )
            shared.checked = start

    def _unfinished(self, place: Place, first: int, end: int) -> list[int]:
        """The records from `first` to before `end` that the group still has to get."""
        shared = self.place(place)
        left = [
            offset
            for offset in range(first, end)
            if (given := shared.given.get(offset)) is None
            or not (given.settled or given.count >= self._limit)
        ]
        if not left:
            return []
        partition = self._scene.partition(place)
        there = {offset for offsets in self._scene.numbers_in(partition).values() for offset in offsets}
        return [offset for offset in left if offset in there and offset >= partition.log.start_offset]

    # -- offsets that are altered

    def _altered(self, call: Call, request: Any, answer: Any) -> None:
        codes = {
            (topic.topic_name, part.partition_index): part.error_code
            for topic in answer.responses
            for part in topic.partitions
        }
        for place, offset in _altered(request):
            shared = self.place(place)
            before, error = shared.altering[call], codes.get(place)
            if answer.error_code or error in (None, ErrorCode.NONE):
                del shared.altering[call]
            if not answer.error_code and error is None and not self._excused(place):
                text = f"nothing begins at {offset}, though nobody says why"
                self._violated("altered-offset-ignored", place, text)
            elif not answer.error_code and error == ErrorCode.NONE:
                shared.begins_anew(offset, before, self._led(place))

    # -- when it is quiet

    def check_end(self) -> None:
        """Everything was delivered until it was done."""
        for place in self._scene.shared:
            partition = self._scene.partition(place)
            if partition.leader < 0 or self._excused(place):
                continue
            broker = self._cluster.brokers[partition.leader]
            self._follow(broker, place)
            shared = self.place(place)
            if (not shared.began and shared.led is None) or self._known(broker, place) in shared.stale:
                # A leader that had read the state before notices that when it writes next.
                continue
            left = self._unfinished(place, shared.checked, partition.log.high_watermark)
            if left:
                led = self._known(broker, place)
                at = (
                    "nobody reads"
                    if led is None or led.share is None
                    else f"it is at {led.share.start_offset}"
                )
                self._violated(
                    "share-group-stuck", place, f"{len(left)} records are not done, from {left[0]} on: {at}"
                )

    def _check_free(
        self, member: Member, states: tuple[int, int], place: Place, led: LedShare, held: dict[int, int]
    ) -> None:
        """What the member had when its session ended nobody has locked for it."""
        share = led.active()
        if share is None or states != self._states or not self._is_healthy or self._excused(place):
            return
        given = self.place(place).given
        for first, last, each in share.parts():
            if each.state is RecordState.ACQUIRED and each.member == member.id:
                kept = [n for n in range(first, last + 1) if n in held and given[n].times == held[n]]
                if kept:
                    text = f"{kept[0]} is still locked for {member.id}, whose share session has ended"
                    self._violated("locked-after-session", place, text)
                    return

    # -- what brokers know

    def _known(self, broker: Broker, place: Place) -> LedShare | None:
        key = SharePartitionKey(SHARERS, self._cluster.topics[place[0]].id, place[1])
        return broker.shares.known(key)

    def _led(self, place: Place) -> list[LedShare]:
        """What all brokers have read of the partition."""
        found = [self._known(each, place) for each in self._cluster.brokers.values()]
        return [each for each in found if each is not None]

    def _is_leader(self, broker: Broker, place: Place) -> bool:
        """Whether it is, by what the controller knows, and may hear of that."""
        return self._scene.partition(place).leader == broker.id and broker.hears_controller

    @property
    def _states(self) -> tuple[int, int]:
        """The share coordinator, and since when."""
        partition = self._cluster.topics[_STATES].partitions[0]
        return partition.leader, partition.leader_epoch

    @property
    def _is_healthy(self) -> bool:
        brokers = self._cluster.brokers.values()
        return all(each.liveness is Liveness.RUNNING and not each.unreachable for each in brokers)

    def _excused(self, place: Place) -> bool:
        """Whether records were allowed to be lost, or nobody knows where the group was told to begin."""
        scene = self._scene
        return scene.plan.unclean or place in scene.ledger.real_loss or bool(self.place(place).altering)

    def _violated(self, invariant: str, place: Place, text: str) -> None:
        """Tells it, the first time for each partition."""
        if (invariant, place) not in self._told:
            self._told.add((invariant, place))
            self._scene.violated(invariant, f"{SHARERS} {place[0]}-{place[1]}", text)


def _altered(request: Any) -> Iterator[tuple[Place, int]]:
    for topic in request.topics:
        for part in topic.partitions:
            yield (topic.topic_name, part.partition_index), part.start_offset
