"""A consumer's session of many partitions reads those that changed: its answers are those of reading all."""

from collections import Counter
from typing import Any, Final
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchmarks.counting import Steps
from mockbroker.apis import fetch as handler
from mockbroker.apis.fetch_waiting import LongReading
from mockbroker.apis.fetched_in_session import reading_of
from mockbroker.controller import elections
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.messages.common import NamePartitionIndexes
from mockbroker.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from mockbroker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic
from mockbroker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from mockbroker.protocol.messages.write_txn_markers import WritableTxnMarker, WriteTxnMarkersRequest
from mockbroker.protocol.record_batch import header_of, is_whole
from mockbroker.rig.batches import TRANSACTIONAL, Record, batch

from ..driving.cluster import Asked, ClusterDriver, a_cluster

PARTITIONS: Final = 20
WAIT_MS: Final = 500
USED: Final = (0, 1, PARTITIONS - 1)
"""Most partitions stay as they are."""
CREATED: Final = "u"
PRODUCER: Final = 7


class Session(ClusterDriver):
    """A consumer's session on broker 1, which leads all partitions of `t` at first."""

    def __init__(self, kafka: str = "4.4", *, remembers: bool = True, partitions: int = PARTITIONS) -> None:
        super().__init__(a_cluster(kafka, 2, transaction_partition_verification_enable="false"))
        assignment = [[1, 2]] * partitions
        small = {"segment.bytes": "300"} if kafka < "4" else {}
        self.topic = self.cluster.create_topic("t", assignment, small)
        self.remembers = remembers
        self.version = self.newest(ApiKey.FETCH)
        self.offsets: dict[tuple[str, int], int] = {("t", index): 0 for index in range(partitions)}
        self.asked: list[Asked] = []
        self.written: list[bytes] = []
        """All answers, as bytes."""
        self.sequences: Counter[int] = Counter()
        self.session_id, self.epoch = 0, 0
        self.read: dict[tuple[str, int], int] = {}
        """Offsets up to which a partition was read, but not yet asked for."""

    def _topics(self, keys: Any) -> list[FetchTopic]:
        topics = []
        for name, index in keys:
            found = self.cluster.topics.get(name)
            wanted = FetchPartition(index, fetch_offset=self.offsets[name, index], partition_max_bytes=200)
            topics.append(FetchTopic(found.id if found else None, [wanted], name))
        return [topic for topic in topics if topic.topic_id is not None]

    def fetch(self, isolation: int = 0, min_bytes: int = 1, max_bytes: int = 1_000) -> None:
        """Asks for what was read until now to be followed by the next."""
        if self.asked and self.asked[-1].parked:
            # A broker reads the next request of a connection when it has answered the last.
            self.advance(WAIT_MS)
        self.offsets |= self.read
        changed = self.read if self.epoch else self.offsets
        topics = self._topics(list(changed))
        self.read = {}
        self.ask_in_session(
            FetchRequest(
                max_wait_ms=WAIT_MS,
                min_bytes=min_bytes,
                max_bytes=max_bytes,
                isolation_level=isolation,
                topics=topics,
            )
        )

    def ask_in_session(self, request: FetchRequest) -> None:
        """Whether or not an earlier request waits, which is on another connection then."""
        request.session_id, request.session_epoch = self.session_id, self.epoch
        self.epoch += 1
        with patch.object(handler, "reading_of", reading_of if self.remembers else LongReading):
            self.asked.append(self.ask(request, self.version, answered=self._answered))

    def _answered(self, codec: Any, response: Any) -> None:
        self.written.append(bytes(codec.encode(0, response)))
        if response.error_code:
            self.session_id = self.epoch = 0
            return
        self.session_id = response.session_id or self.session_id
        if not response.session_id:
            self.epoch = 0
        names = {topic.id: name for name, topic in self.cluster.topics.items()}
        for topic in response.responses:
            for each in topic.partitions:
                key = names.get(topic.topic_id, topic.topic), each.partition_index
                if each.records and key in self.offsets:
                    # The last batch may be cut off.
                    header = header_of([one for one in each.records if is_whole(one)][-1])
                    self.read[key] = header.base_offset + header.last_offset_delta + 1

    # -- what happens in the meantime

    def write(self, partition: int, *, transactional: bool = False, acks: int = 1) -> None:
        value = [Record(b"v" * 40)]
        records = batch(value)
        if transactional:
            sequence = self.sequences[partition]
            self.sequences[partition] += 1
            records = batch(
                value, attributes=TRANSACTIONAL, producer_id=PRODUCER, producer_epoch=0, sequence=sequence
            )
        data = PartitionProduceData(partition, records)
        name = f"tx-{PRODUCER}" if transactional else None
        topics = [TopicProduceData(self.topic.id, [data], "t")]
        leader = self.topic.partitions[partition].leader
        if leader >= 0:
            self.ask(ProduceRequest(name, acks, 1000, topics), broker=leader)

    def end(self, partition: int, committed: bool) -> None:
        topics = [NamePartitionIndexes("t", [partition])]
        self.ask(WriteTxnMarkersRequest([WritableTxnMarker(PRODUCER, 0, committed, topics)]), 1)

    def delete(self, partition: int, offset: int) -> None:
        gone = DeleteRecordsTopic("t", [DeleteRecordsPartition(partition, offset)])
        self.ask(DeleteRecordsRequest([gone], 1000))

    def forget(self, partition: int) -> None:
        self.fetch()
        self.advance(WAIT_MS)
        self.offsets.pop(("t", partition), None)
        self.read.pop(("t", partition), None)
        if self.epoch:
            gone = [ForgottenTopic(self.topic.id, [partition], "t")]
            self.ask_in_session(FetchRequest(max_wait_ms=0, forgotten_topics_data=gone))

    def seek(self, partition: int, offset: int) -> None:
        self.offsets["t", partition] = self.read["t", partition] = offset

    def other_topic(self, there: bool) -> None:
        if not there and CREATED in self.cluster.topics:
            self.cluster.delete_topics([self.cluster.topics[CREATED]])
        elif there and CREATED not in self.cluster.topics:
            self.cluster.create_topic(CREATED, [[1]])
            self.offsets[CREATED, 0] = self.read[CREATED, 0] = 0

    def begin_anew(self, ends: bool) -> None:
        if ends and self.session_id:
            self.fetch()
            self.advance(WAIT_MS)
            self.epoch = -1
            self.fetch()
            self.advance(WAIT_MS)
        self.epoch = 0
        self.session_id = 0 if ends else self.session_id

    def second_broker(self, up: bool, killed: bool) -> None:
        online = self.cluster.brokers[2].online
        if up and not online:
            self.start_broker(2)
        elif not up and online:
            (self.kill_broker if killed else self.stop_broker)(2)

    def reachable(self, there: bool) -> None:
        if there:
            self.rejoin(2)
        elif self.cluster.brokers[2].online:
            self.cut_off(2)

    def move(self, partition: int, leader: int) -> None:
        moved = self.topic.partitions[partition]
        if elections.next_leader(moved, leader) is not None:
            elections.move_leader(moved, leader)

    def hear_late(self, delay_ms: int) -> None:
        self.cluster.slow_metadata(1, delay_ms)

    def answer_otherwise(self, name: str, answer: str) -> None:
        self.cluster.policies.set(name, answer)


used = st.sampled_from(USED)
whether = st.booleans()
steps = st.one_of(
    st.tuples(st.just("fetch"), st.integers(0, 1), st.sampled_from([1, 150]), st.sampled_from([100, 1_000])),
    st.tuples(st.just("fetch")),
    st.tuples(st.just("write"), used),
    st.tuples(st.just("write_all"), used),
    st.tuples(st.just("write_in_transaction"), used),
    st.tuples(st.just("end"), used, whether),
    st.tuples(st.just("delete"), used, st.integers(0, 3)),
    st.tuples(st.just("forget"), used),
    st.tuples(st.just("seek"), used, st.integers(0, 4)),
    st.tuples(st.just("move"), used, st.integers(1, 2)),
    st.tuples(st.just("other_topic"), whether),
    st.tuples(st.just("begin_anew"), whether),
    st.tuples(st.just("second_broker"), whether, whether),
    st.tuples(st.just("reachable"), whether),
    st.tuples(st.just("advance"), st.sampled_from([1, WAIT_MS, 40_000])),
    st.tuples(st.just("hear_late"), st.sampled_from([0, 1_000])),
    st.tuples(
        st.just("answer_otherwise"),
        *(st.just(each) for each in ("consumer-read-limit", "log-end-offset")),
    ),
)


def play(driver: Session, step: tuple[Any, ...]) -> None:
    name, *given = step
    match name:
        case "write_all":
            driver.write(*given, acks=-1)
        case "write_in_transaction":
            driver.write(*given, transactional=True)
        case _:
            getattr(driver, name)(*given)


_FETCHED: Final = [("fetch",), ("fetch",), ("fetch",)]
_LITTLE: Final = ("fetch", 0, 1, 100)
_COMMITTED: Final = ("fetch", 1, 1, 1_000)


@pytest.mark.parametrize("kafka", ["2.3", "2.7", "4.4"])
@example(history=[("write", 0), *_FETCHED, ("delete", 0, 1), ("fetch",)])
@example(history=[("write_in_transaction", 0), *_FETCHED, _COMMITTED, _COMMITTED])
@example(history=[("write_in_transaction", 0), _COMMITTED, _COMMITTED, ("end", 0, True), ("fetch",)])
@example(history=[("other_topic", True), *_FETCHED, ("other_topic", False), ("fetch",)])
@example(history=[*_FETCHED, ("move", 0, 2), ("fetch",), ("fetch",), ("move", 0, 1), *_FETCHED])
@example(history=[*_FETCHED, ("second_broker", False, True), ("write_all", 0), ("advance", 40_000)])
@example(history=[*_FETCHED, ("seek", 0, 3), ("fetch",), ("write", 0)])
@example(history=[("write", 0), ("write", 0), ("write", 1), ("write", 1), *[_LITTLE] * 6])
@example(history=[("move", 0, 2), *_FETCHED, ("write", 0), ("fetch",), ("write", 0), *_FETCHED])
@example(history=[("other_topic", True), *_FETCHED, ("hear_late", 60_000), ("other_topic", False), *_FETCHED])
@given(history=st.lists(steps, max_size=30))
@settings(deadline=None, max_examples=30)
def test_answers_are_those_of_reading_all(kafka: str, history: list[tuple[Any, ...]]) -> None:
    drivers = Session(kafka), Session(kafka, remembers=False)
    for step in [("fetch",), ("fetch",), ("advance", WAIT_MS), *history, ("advance", WAIT_MS)]:
        for driver in drivers:
            play(driver, step)
        remembering, reading = drivers
        assert remembering.written == reading.written
        assert [each.parked for each in remembering.asked] == [each.parked for each in reading.asked]


def reading(partitions: int) -> Session:
    """A session of so many partitions, of which one Fetch has been answered after all were read."""
    driver = Session(partitions=partitions)
    for _ in range(3):
        driver.fetch()
        driver.advance(WAIT_MS)
    return driver


def test_what_a_fetch_costs_does_not_depend_on_how_many_partitions_there_are_in_its_session() -> None:
    counts = []
    for driver in (reading(PARTITIONS), reading(4 * PARTITIONS)):
        with Steps() as steps:
            driver.fetch()
            driver.write(0)
        assert driver.read == {("t", 0): 1}
        counts.append(steps.count)
    assert counts[1] < counts[0] * 1.02, counts


def test_a_session_that_ended_is_told_of_no_more_changes() -> None:
    driver = reading(PARTITIONS)
    (session,) = driver.cluster.brokers[1].sessions.sessions.values()
    followed = {cached.replica for cached in session.partitions.values()}
    assert len(followed) > PARTITIONS // 2
    driver.begin_anew(ends=True)
    assert not any(replica.sessions for replica in followed if replica is not None)


def test_two_connections_wait_with_one_session() -> None:
    driver = reading(PARTITIONS)
    driver.fetch(min_bytes=1_000)
    driver.ask_in_session(FetchRequest(max_wait_ms=WAIT_MS, min_bytes=1, max_bytes=1_000))
    driver.write(0)
    assert [each.parked for each in driver.asked[-2:]] == [True, False]
    assert driver.read == {("t", 0): 1}
    driver.write(2)
    driver.advance(WAIT_MS)
    assert driver.read == {("t", 0): 1, ("t", 2): 1}
    driver.fetch()
    driver.write(4)
    assert driver.read == {("t", 4): 1}
