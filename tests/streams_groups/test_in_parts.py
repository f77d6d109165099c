"""What a heartbeat of a large group takes is done in parts: others are answered in between, but for members
of the same group, which have to wait."""

from collections.abc import Iterator
from typing import Any, Final

import pytest

from benchmarks.counting import Steps
from mockbroker.controller import elections
from mockbroker.outcome import PARKED
from mockbroker.protocol.codecs import Codec
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.streams_group_describe import StreamsGroupDescribeRequest
from mockbroker.protocol.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    Subtopology,
    Topology,
)
from mockbroker.protocol.messages.streams_groups import TopicInfo

from ..driving.cluster import Asked, ClusterDriver, a_cluster

E = ErrorCode
SUBTOPOLOGIES: Final = 40
PARTITIONS: Final = 100
MOST: Final = 40_000
"""As in `tests/apis/test_turns.py`: takes one to three milliseconds."""
SESSION_MS: Final = 45_000


class Group(ClusterDriver):
    """A streams group with 4,000 tasks, each with a copy."""

    def __init__(self) -> None:
        super().__init__(
            a_cluster(
                brokers=2,
                offsets_topic_num_partitions=1,
                group_streams_initial_rebalance_delay_ms=0,
                group_streams_assignment_interval_ms=0,
                group_streams_num_standby_replicas=1,
            )
        )
        replicas = [1, 2]
        for number in range(SUBTOPOLOGIES):
            for name in ("lines", "counts"):
                self.cluster.create_topic(f"{name}-{number}", [replicas] * PARTITIONS)
        self.topology = Topology(
            0,
            [
                Subtopology(
                    str(number), [f"lines-{number}"], state_changelog_topics=[TopicInfo(f"counts-{number}")]
                )
                for number in range(SUBTOPOLOGIES)
            ],
        )
        self.join("warm", "others", Topology(0, self.topology.subtopologies[:1]))
        self.work = self.cluster.work
        self.work.at_once = 1

    def join(self, member: str, group: str = "g", topology: Topology | None = None) -> Asked:
        return self.ask(
            StreamsGroupHeartbeatRequest(
                group_id=group,
                member_id=member,
                rebalance_timeout_ms=60_000,
                topology=topology or self.topology,
                process_id=member,
                active_tasks=[],
                standby_tasks=[],
                warmup_tasks=[],
                client_tags=[],
            ),
            answered=_left_alone,
        )

    def beat(self, member: str, epoch: int, **tasks: Any) -> Asked:
        return self.ask(StreamsGroupHeartbeatRequest("g", member, epoch, **tasks), answered=_left_alone)

    def described(self) -> list[Any]:
        """The members."""
        (found,) = self.ask(StreamsGroupDescribeRequest(["g"])).groups
        return sorted(found.members, key=lambda each: str(each.member_id))

    def finish(self) -> None:
        while self.work:
            self.work.go_on()
            self.advance(0)
        self.work.in_parts = False


def _left_alone(codec: Codec, answer: Any) -> None:
    """Connections write answers in parts, too."""


@pytest.fixture
def group() -> Iterator[Group]:
    group = Group()
    yield group
    group.finish()


def test_no_part_is_long(group: Group) -> None:
    turns: list[int] = []

    def counted(ask: Any) -> Any:
        group.work.in_parts = True
        with Steps() as steps:
            asked = ask()
        turns.append(steps.count)
        while group.work:
            with Steps() as steps:
                group.work.go_on()
            turns.append(steps.count)
        group.work.in_parts = False
        return asked

    first = counted(lambda: group.join("a"))
    assert sum(len(each.partitions) for each in first.active_tasks) == SUBTOPOLOGIES * PARTITIONS
    counted(lambda: group.join("b"))
    gives_up = counted(
        lambda: group.beat(
            "a",
            first.member_epoch,
            active_tasks=first.active_tasks,
            standby_tasks=first.standby_tasks,
            warmup_tasks=[],
        )
    )
    assert gives_up.active_tasks != first.active_tasks
    assert len(turns) > 1000
    assert max(turns) < MOST, sorted(turns)[-5:]


def test_members_wait_for_each_other_but_nobody_else_does(group: Group) -> None:
    group.work.in_parts = True
    one, two = group.join("a"), group.join("b")
    other = group.join("c", "others", Topology(0, group.topology.subtopologies[:1]))
    assert one.outcome is two.outcome is PARKED
    while other.parked:
        group.work.go_on()
    assert one.parked
    assert two.parked
    group.finish()
    assert [one.member_epoch, two.member_epoch] == [2, 3]
    assert [each.member_id for each in group.described()] == ["a", "b"]


def test_a_member_whose_heartbeat_waits_is_not_silent(group: Group) -> None:
    joined = group.join("b")
    group.work.in_parts = True
    one, two = group.join("a"), group.beat("b", joined.member_epoch)
    group.advance(SESSION_MS)
    group.finish()
    assert one.error_code == two.error_code == E.NONE
    assert [each.member_id for each in group.described()] == ["a", "b"]


def test_a_member_that_is_silent_leaves_once_others_are_done(group: Group) -> None:
    group.join("b")
    group.work.in_parts = True
    one = group.join("a")
    group.advance(SESSION_MS)
    assert one.parked
    group.finish()
    assert [each.member_id for each in group.described()] == ["a"]


def test_another_broker_coordinates_the_group_meanwhile(group: Group) -> None:
    group.work.in_parts = True
    one, two = group.join("a"), group.join("b")
    assert elections.move_leader(group.cluster.offsets_partition("g"))
    group.finish()
    assert one.error_code == two.error_code == E.NOT_COORDINATOR
