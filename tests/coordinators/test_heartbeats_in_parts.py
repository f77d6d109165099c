"""Whatever a heartbeat names, what takes long of it is done in parts, and decided in one short step."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import pytest

from benchmarks.counting import Steps
from mockbroker.controller import elections
from mockbroker.coordinators.known_topics import KnownTopics, topic_hash
from mockbroker.outcome import PARKED
from mockbroker.protocol.codecs import Codec
from mockbroker.protocol.consumer_group_keys import Key, Kind, write_key
from mockbroker.protocol.consumer_group_records import read_value
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from mockbroker.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from mockbroker.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from mockbroker.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from mockbroker.protocol.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    Subtopology,
    Topology,
)
from mockbroker.protocol.record_batch import header_of, pairs

from ..driving.cluster import Asked, ClusterDriver, configured

E = ErrorCode
MOST: Final = 40_000
"""As in `tests/apis/test_turns.py`: takes one to three milliseconds."""
NAMES: Final = [f"name-{number * 7919 % 10_000}" for number in range(10_000)]
PARTITIONS: Final = 2000
RACKS: Final = {1: "a", 2: "b", 3: "c"}
Join = Callable[[str, str, list[str]], Any]


def consumer(group: str, member: str, names: list[str]) -> Any:
    return ConsumerGroupHeartbeatRequest(
        group, member, rebalance_timeout_ms=60_000, subscribed_topic_names=names, topic_partitions=[]
    )


def share(group: str, member: str, names: list[str]) -> Any:
    return ShareGroupHeartbeatRequest(group, member, subscribed_topic_names=names)


def streams(group: str, member: str, names: list[str]) -> Any:
    return StreamsGroupHeartbeatRequest(
        group_id=group,
        member_id=member,
        rebalance_timeout_ms=60_000,
        topology=Topology(0, [Subtopology("0", names)]),
        process_id=member,
        active_tasks=[],
        standby_tasks=[],
        warmup_tasks=[],
        client_tags=[],
    )


class Groups(ClusterDriver):
    def __init__(self) -> None:
        config = {"offsets.topic.num.partitions": 1, "group.streams.initial.rebalance.delay.ms": 0}
        super().__init__(configured("4.4", 3, None, config, RACKS))
        self.work = self.cluster.work
        self.work.at_once = 1
        self.cluster.create_topic("small", [[1, 2, 3]])
        for join in (consumer, share, streams):
            # What is imported and compiled for the first time does not count.
            self.counted(join(f"warm-{join.__name__}", "a", ["small"]))

    def begin(self, request: Any) -> Asked:
        self.work.in_parts = True
        return self.ask(request, answered=_left_alone)

    def finish(self) -> None:
        while self.work:
            self.work.go_on()
        self.work.in_parts = False

    def counted(self, request: Any) -> tuple[Asked, list[int]]:
        """The answer, and the instructions of each part."""
        with Steps() as steps:
            asked = self.begin(request)
        turns = [steps.count]
        while asked.parked and self.work:
            with Steps() as steps:
                self.work.go_on()
            turns.append(steps.count)
        self.finish()
        return asked, turns

    def members(self, group: str) -> dict[str, Any]:
        (found,) = self.ask(ConsumerGroupDescribeRequest([group])).groups
        return {each.member_id: each for each in found.members}

    def replicas(self, topic: str, index: int) -> Sequence[int]:
        return self.cluster.brokers[1].known_topics()[topic].partitions[index].replicas

    def in_log(self, kind: Kind, group: str, member: str = "") -> Any:
        """The last record of that kind."""
        partition = self.cluster.brokers[1].offsets_partition(group)
        assert partition is not None
        key = write_key(Key(kind, group, member))
        written = [
            value
            for batch in partition.log.batches_from(0, 1000)
            for _, found, value in pairs(header_of(batch), batch)
            if found == key and value is not None
        ]
        return read_value(kind, written[-1])


def _left_alone(codec: Codec, answer: Any) -> None:
    """Connections write answers in parts, too."""


@pytest.fixture
def groups() -> Iterator[Groups]:
    groups = Groups()
    yield groups
    groups.finish()


@pytest.mark.parametrize("join", [consumer, share])
def test_no_part_is_long_however_many_topics_are_named(groups: Groups, join: Join) -> None:
    for member, names in [("a", NAMES), ("b", NAMES), ("a", NAMES), ("a", NAMES[1:])]:
        asked, turns = groups.counted(join("g", member, names))
        assert asked.error_code == E.NONE
        assert len(turns) > 30
        assert max(turns) < MOST, sorted(turns)[-5:]


def test_names_are_told_and_written_in_order(groups: Groups) -> None:
    groups.counted(consumer("g", "a", ["small", *NAMES, "small"]))
    expected = sorted(["small", *NAMES])
    assert groups.members("g")["a"].subscribed_topic_names == expected
    assert groups.in_log(Kind.MEMBER, "g", "a").topics == expected


@pytest.mark.parametrize("join", [consumer, share, streams])
def test_a_topic_is_hashed_in_parts(groups: Groups, join: Join) -> None:
    groups.cluster.create_topic("large", [[1, 2, 3]] * PARTITIONS)
    _, first = groups.counted(join("one", "a", ["large"]))
    _, second = groups.counted(join("two", "a", ["large"]))
    assert len(first) - len(second) > PARTITIONS // 100
    assert max(first) < max(max(second) * 1.05, MOST), (sorted(first)[-5:], sorted(second)[-5:])


def test_a_topic_that_changes_meanwhile_is_hashed_as_it_is_in_the_end(groups: Groups) -> None:
    groups.cluster.create_topic("large", [[1, 2, 3]] * PARTITIONS)
    joined = groups.begin(consumer("g", "a", ["large"]))
    for _ in range(3):
        groups.work.go_on()
    assert joined.parked
    more = CreatePartitionsTopic("large", PARTITIONS + 1, None)
    grown = groups.ask(CreatePartitionsRequest([more], 60_000), answered=_left_alone)
    groups.finish()
    assert [each.error_code for each in grown.results] == [E.NONE]
    (assigned,) = joined.assignment.topic_partitions
    assert len(assigned.partitions) == PARTITIONS + 1
    topic_id = groups.cluster.topics["large"].id
    racks = [sorted(RACKS.values())] * PARTITIONS
    racks.append(sorted(RACKS[each] for each in groups.replicas("large", PARTITIONS)))
    known = KnownTopics({topic_id: topic_hash(topic_id, "large", racks)})
    assert groups.in_log(Kind.EPOCH, "g").metadata_hash == known.hash


def test_others_are_answered_in_between(groups: Groups) -> None:
    one = groups.begin(consumer("g", "a", NAMES))
    two = groups.begin(consumer("g", "b", ["small"]))
    assert one.outcome is two.outcome is PARKED
    while two.parked:
        groups.work.go_on()
    assert one.parked
    groups.finish()
    assert sorted(groups.members("g")) == ["a", "b"]


def test_another_broker_coordinates_the_group_meanwhile(groups: Groups) -> None:
    one = groups.begin(consumer("g", "a", NAMES))
    assert elections.move_leader(groups.cluster.offsets_partition("g"))
    groups.finish()
    assert one.error_code == E.NOT_COORDINATOR
