"""What the judge of share groups takes for a violation, when all that brokers say is made up."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from mockbroker.cluster.call import Call
from mockbroker.cluster.led_share import LedShare
from mockbroker.cluster.share_sessions import Member, Place
from mockbroker.outcome import Client
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages import alter_share_group_offsets as alter
from mockbroker.protocol.messages import share_acknowledge, share_fetch
from mockbroker.protocol.messages.of_share_groups import (
    AcknowledgedPartition,
    AcknowledgedTopic,
    AcknowledgementBatch,
)
from mockbroker.protocol.share_state_log import SharePartitionKey
from mockbroker.simulation.invariants import INVARIANTS
from mockbroker.simulation.scene import SHARERS
from mockbroker.simulation.share_setting import TOPIC
from mockbroker.simulation.sharing import ACCEPT, REJECT, RELEASE
from mockbroker.simulation.world import World

from .share_plans import OF_SHARE_GROUPS, a_plan


class Told:
    """A group of which everything that brokers say is made up. The leader has read the state of partition 0,
    which has records from 0 to 19."""

    def __init__(self, **given: Any) -> None:
        self.world = World(a_plan(members=1, **given))
        member, (feeder,) = self.world.sharers[0], self.world.share_feeders
        member.start()
        self.world.run_until(1_500)
        member.kill()
        feeder.send(20)
        self.world.run_until(2_000)
        sharing = self.world.sharing
        assert sharing is not None
        self.sharing, self.topic_id = sharing, self.world.cluster.topics[TOPIC].id
        self.broker = self.world.cluster.brokers[self.world.partition((TOPIC, 0)).leader]
        self.clients = {name: Client() for name in "ab"}
        self.led = self.reads_again()

    @property
    def found(self) -> list[str]:
        """The invariants that were violated."""
        names = [each.invariant for each in self.world.violations]
        assert {*names} <= OF_SHARE_GROUPS <= INVARIANTS.keys()
        return names

    def reads_again(self) -> LedShare:
        """The leader forgets the state, and reads it."""
        partition = self.world.partition((TOPIC, 0)).at(self.broker.id)
        assert partition is not None
        key = SharePartitionKey(SHARERS, self.topic_id, 0)
        self.broker.shares._led.pop(key, None)
        led = self.broker.shares.lead(key, partition)
        self.wait(500)
        assert led.share is not None
        return led

    def wait(self, ms: int) -> None:
        self.world.run_until(self.world.since_start_ms + ms)

    def asks(self, member: str, api: ApiKey, request: Any) -> Callable[[Any], None]:
        """A request arrives; the result is called with its answer."""
        call = Call(self.world.cluster, self.broker, 2, self.clients[member], member, lambda *_: None)
        self.sharing.asked(call, api, request)
        return lambda answer: self.sharing.told(call, api, request, answer)

    def gets(self, member: str, first: int, last: int, count: int) -> None:
        """A member is given records."""
        self.begins_to_get(member)(first, last, count)

    def begins_to_get(self, member: str, says: Iterable[int] = ()) -> Callable[[int, int, int], None]:
        """A member asks for records, and accepts others; the result is called with what it is given."""
        request = share_fetch.ShareFetchRequest(SHARERS, member, 1)
        said = [AcknowledgementBatch(each, each, [ACCEPT]) for each in says]
        request.topics = [AcknowledgedTopic(self.topic_id, [AcknowledgedPartition(0, said)])]
        answered = self.asks(member, ApiKey.SHARE_FETCH, request)
        return lambda first, last, count: answered(self._given(first, last, count))

    def _given(self, first: int, last: int, count: int) -> share_fetch.ShareFetchResponse:
        part = share_fetch.PartitionData(0)
        if last >= first:
            part.acquired_records = [share_fetch.AcquiredRecords(first, last, count)]
        answer = share_fetch.ShareFetchResponse()
        answer.responses = [share_fetch.ShareFetchableTopicResponse(self.topic_id, [part])]
        return answer

    def says(self, member: str, offsets: Iterable[int], kind: int, error: int = 0) -> None:
        """A member acknowledges records, and is answered."""
        self.begins_to_say(member, offsets, kind)(error)

    def begins_to_say(self, member: str, offsets: Iterable[int], kind: int) -> Callable[[int], None]:
        """A member acknowledges records; the result is called with the error code of the answer."""
        said = [AcknowledgementBatch(each, each, [kind]) for each in offsets]
        request = share_acknowledge.ShareAcknowledgeRequest(SHARERS, member, 1)
        request.topics = [AcknowledgedTopic(self.topic_id, [AcknowledgedPartition(0, said)])]
        answered = self.asks(member, ApiKey.SHARE_ACKNOWLEDGE, request)

        def with_error(error: int) -> None:
            answer = share_acknowledge.ShareAcknowledgeResponse()
            part = share_acknowledge.PartitionData(0, error)
            answer.responses = [share_acknowledge.ShareAcknowledgeTopicResponse(self.topic_id, [part])]
            answered(answer)

        return with_error

    def starts(self, offset: int) -> None:
        """The start offset is another one, as somebody sees who gets nothing."""
        assert self.led.share is not None
        self.led.share.start_offset = offset
        self.gets("a", 0, -1, 0)

    def begins_anew(self, offset: int, *, told: bool = True) -> None:
        """The group is told to begin anew, and answered."""
        topic = alter.AlterShareGroupOffsetsRequestTopic(
            TOPIC, [alter.AlterShareGroupOffsetsRequestPartition(0, offset)]
        )
        request = alter.AlterShareGroupOffsetsRequest(SHARERS, [topic])
        answer = alter.AlterShareGroupOffsetsResponse()
        if told:
            parts = [alter.AlterShareGroupOffsetsResponsePartition(0)]
            answer.responses = [alter.AlterShareGroupOffsetsResponseTopic(TOPIC, self.topic_id, parts)]
        self.asks("a", ApiKey.ALTER_SHARE_GROUP_OFFSETS, request)(answer)


def test_a_group_that_does_everything_right() -> None:
    told = Told(deliveries=3)
    told.gets("a", 0, 4, 1)
    told.says("a", [0, 3, 4], ACCEPT)
    told.says("a", [1], RELEASE)
    told.says("a", [2], REJECT)
    told.gets("b", 1, 1, 2)
    told.wait(1_500)
    told.gets("a", 1, 1, 3)
    told.wait(1_500)
    told.starts(5)
    told.gets("b", 5, 19, 1)
    told.says("b", range(5, 20), ACCEPT)
    told.sharing.check_end()
    assert told.found == []


@pytest.mark.parametrize(("waits_ms", "expected"), [(1_499, ["acquired-twice"]), (1_500, [])])
def test_a_record_is_locked(waits_ms: int, expected: list[str]) -> None:
    told = Told(lock_ms=1_500)
    told.gets("a", 0, 3, 1)
    told.wait(waits_ms)
    told.gets("b", 3, 3, 2)
    assert told.found == expected


def test_an_answer_may_tell_of_a_lock_that_has_ended() -> None:
    """It has waited until what came with its request was written; meanwhile another has got the record."""
    told = Told(lock_ms=1_500)
    told.gets("a", 0, 0, 1)
    answered = told.begins_to_get("a", says=[0])
    told.wait(1_500)
    told.gets("b", 1, 1, 2)
    answered(1, 1, 1)
    told.says("b", [1], ACCEPT)
    told.starts(2)
    assert told.found == []


def test_a_leader_that_reads_the_state_again_forgets_locks() -> None:
    told = Told()
    told.gets("a", 0, 3, 1)
    told.led = told.reads_again()
    told.gets("b", 0, 0, 1)
    told.gets("b", 1, 1, 2)
    assert told.found == []
    told.gets("b", 2, 2, 3)
    assert told.found == ["delivery-count-wrong"]


@pytest.mark.parametrize("counts", [(2,), (1, 1), (1, 3), (1, 2, 3)])
def test_each_delivery_counts(counts: tuple[int, ...]) -> None:
    told = Told(deliveries=2)
    for count in counts:
        assert told.found == []
        told.gets("a", 0, 0, count)
        told.says("a", [0], RELEASE)
    assert told.found == ["delivery-count-wrong"]


def test_what_was_written_of_deliveries_survives_a_leader() -> None:
    told = Told()
    told.gets("a", 0, 0, 1)
    told.says("a", [0], RELEASE)
    told.led = told.reads_again()
    told.gets("a", 0, 0, 1)
    assert told.found == ["delivery-count-wrong"]


@pytest.mark.parametrize(
    ("kind", "error", "expected"),
    [
        (ACCEPT, ErrorCode.NONE, ["delivered-after-accept"]),
        (REJECT, ErrorCode.NONE, ["delivered-after-reject"]),
        (ACCEPT, ErrorCode.INVALID_RECORD_STATE, []),
        (REJECT, ErrorCode.COORDINATOR_NOT_AVAILABLE, []),
    ],
)
def test_a_record_that_is_done_is_not_delivered(kind: int, error: ErrorCode, expected: list[str]) -> None:
    told = Told()
    told.gets("a", 0, 3, 1)
    told.says("a", [2], kind, error)
    told.gets("b", 2, 2, 2)
    assert told.found == expected


@pytest.mark.parametrize(("last", "expected"), [(0, []), (1, ["last-delivery-shared"])])
def test_the_last_delivery_is_of_one_record(last: int, expected: list[str]) -> None:
    told = Told(deliveries=3)
    for count in (1, 2, 3):
        told.gets("a", 0, last, count)
        told.says("a", range(last + 1), RELEASE)
    assert told.found == expected


@pytest.mark.parametrize(
    ("kind", "error", "expected"),
    [
        (ACCEPT, ErrorCode.NONE, []),
        (ACCEPT, ErrorCode.COORDINATOR_NOT_AVAILABLE, []),
        (ACCEPT, ErrorCode.INVALID_RECORD_STATE, ["share-record-skipped"]),
        (RELEASE, ErrorCode.NONE, ["share-record-skipped"]),
    ],
)
def test_the_start_offset_passes_what_is_done(kind: int, error: ErrorCode, expected: list[str]) -> None:
    told = Told()
    told.gets("a", 0, 3, 1)
    told.says("a", [0, 1], ACCEPT)
    told.says("a", [2], kind, error)
    told.starts(3)
    assert told.found == expected


def test_a_refusal_is_of_one_request() -> None:
    """A member is refused what it said of a record that another has accepted meanwhile."""
    told = Told()
    told.gets("a", 0, 0, 1)
    refused = told.begins_to_say("a", [0], ACCEPT)
    told.led = told.reads_again()
    told.gets("b", 0, 0, 1)
    told.begins_to_say("b", [0], ACCEPT)
    refused(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    told.starts(1)
    assert told.found == []


def test_deleted_records_need_not_be_delivered() -> None:
    told = Told()
    leader = told.world.partition((TOPIC, 0)).led
    assert leader is not None
    leader.advance_log_start(3)
    told.starts(3)
    assert told.found == []


def test_the_start_offset_does_not_move_back() -> None:
    told = Told()
    told.gets("a", 0, 3, 1)
    told.says("a", [0, 1, 2], ACCEPT)
    told.starts(3)
    told.starts(2)
    assert told.found == ["share-start-back"]


def test_everything_is_delivered_in_the_end() -> None:
    told = Told()
    told.gets("a", 0, 18, 1)
    told.says("a", range(19), ACCEPT)
    told.starts(19)
    assert told.found == []
    told.sharing.check_end()
    assert told.found == ["share-group-stuck"]


@pytest.mark.parametrize(("ends", "expected"), [(False, ["locked-after-session"]), (True, [])])
def test_what_a_member_had_is_free_after_its_session(ends: bool, expected: list[str]) -> None:
    told = Told()
    assert told.led.share is not None
    client, member = told.clients["a"], Member(SHARERS, "a")
    session = told.broker.shares.sessions.begin(member, client, 100)
    session.add([Place(told.topic_id, 0)], told.world.cluster.topic_ids)
    now_ms = told.world.cluster.now_ms
    told.led.share.acquire("a", [(0, 19)], 0, max_records=500, batch_size=500, now=now_ms)
    told.gets("a", 0, 19, 1)
    told.sharing.closing(told.broker, client)
    if ends:
        client.closed()
    told.wait(600)
    assert told.found == expected


def test_altered_offsets_are_where_the_group_begins() -> None:
    told = Told()
    told.gets("a", 0, 9, 1)
    told.says("a", range(10), ACCEPT)
    told.starts(10)
    told.begins_anew(5)
    told.gets("b", 7, 7, 1)
    assert told.found == []
    told.led = told.reads_again()
    told.gets("b", 5, 5, 1)
    assert told.found == []
    told.gets("b", 4, 4, 1)
    assert told.found == ["altered-offset-ignored"]


def test_a_leader_that_had_read_the_state_before_writes_it() -> None:
    """KAFKA-20910"""
    told = Told()
    told.begins_anew(5)
    told.gets("a", 0, 3, 1)
    told.says("a", [0], ACCEPT)
    assert told.found == ["altered-offset-ignored"]


def test_offsets_that_nobody_alters() -> None:
    told = Told()
    told.begins_anew(5, told=False)
    assert told.found == ["altered-offset-ignored"]
