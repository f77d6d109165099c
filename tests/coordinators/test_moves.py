"""Groups whose coordinator moves, or goes down and comes back: what their members are told.

As real 3.9.2 and 4.4.0 do: requests that wait get NOT_COORDINATOR, and the next coordinator has what was
written last. A rebalance under way is lost.
"""

import pytest

from mockbroker.cluster.processes import Processes
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState

from ..driving.cluster import Asked
from ..driving.groups import SESSION_MS, GroupDriver, replicated

NOT_COORDINATOR = ErrorCode.NOT_COORDINATOR


def restart(driver: GroupDriver, how: object = Processes.stop, down_ms: int = 5 * SESSION_MS) -> None:
    assert callable(how)
    how(driver.cluster.processes, driver.broker.id)
    driver.advance(down_ms)
    driver.start_broker(driver.broker.id)


@pytest.mark.parametrize("release", ["2.3", "3.9", "4.4"])
@pytest.mark.parametrize("instance", [None, "i"])
def test_a_join_that_waits_is_answered_when_the_coordinator_moves(release: str, instance: str | None) -> None:
    driver = replicated(release)
    (member,) = driver.stable(None)
    waiting = driver.enter() if instance is None else driver.join(instance=instance)
    assert waiting.parked
    driver.move_coordinator()
    assert waiting.error_code == NOT_COORDINATOR
    assert driver.state == "Stable"
    assert driver.heartbeat(member) == 0
    assert list(driver.group.members) == [member.member_id]


def test_a_sync_that_waits_is_answered_when_the_coordinator_moves() -> None:
    driver = replicated()
    (first,) = driver.stable(None)
    second = driver.enter()
    assert driver.join(first.member_id).generation_id == first.generation_id + 1
    waiting = driver.sync(second)
    assert waiting.parked
    driver.move_coordinator()
    assert waiting.error_code == NOT_COORDINATOR
    assert driver.heartbeat(first) == 0, "the generation that was written last"
    assert driver.heartbeat(second) == ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize(("release", "state"), [("3.9", "Dead"), ("4.4", "Empty")])
def test_a_generation_without_an_assignment_is_not_known_to_the_next_coordinator(
    release: str, state: str
) -> None:
    driver = replicated(release)
    joined = driver.enter()
    assert joined.generation_id == 1
    driver.move_coordinator()
    assert driver.state == state
    assert driver.heartbeat(joined) == ErrorCode.UNKNOWN_MEMBER_ID


def test_groups_are_there_when_the_last_coordinator_is_back() -> None:
    driver = replicated()
    driver.commit({("orders", 0): 5})
    for _ in range(2):
        driver.stop_broker(driver.broker.id)
        driver.follow_coordinator()
        assert driver.offsets() == {("orders", 0): 5}
    last = driver.broker
    driver.stop_broker(last.id)
    assert driver.cluster.coordinator("g") is None
    driver.start_broker(last.id)
    driver.follow_coordinator()
    assert driver.broker is last
    assert driver.offsets() == {("orders", 0): 5}


def test_offsets_and_members_are_there_after_any_number_of_moves() -> None:
    driver = replicated()
    members = driver.stable("a", "b")
    driver.commit({("orders", 0): 5}, members[0])
    for _ in range(3):
        driver.move_coordinator()
        driver.advance(SESSION_MS - 1)
        assert [
            driver.heartbeat(each, group_instance_id=i) for each, i in zip(members, "ab", strict=True)
        ] == [
            0,
            0,
        ]
    assert driver.offsets() == {("orders", 0): 5}
    assert [
        driver.sync(each, group_instance_id=i).assignment for each, i in zip(members, "ab", strict=True)
    ] == [
        b"a0",
        b"a1",
    ]


def test_a_member_that_never_comes_to_the_next_coordinator_expires_there() -> None:
    driver = replicated()
    driver.stable(None)
    driver.advance(SESSION_MS - 1)
    driver.move_coordinator()
    driver.advance(SESSION_MS - 1)
    assert driver.state == "Stable", "its session began anew"
    driver.advance(1)
    assert driver.state == "Empty"


@pytest.mark.parametrize("how", [Processes.stop, Processes.kill])
@pytest.mark.parametrize("release", ["0.11", "2.8", "3.9", "4.4"])
def test_sessions_do_not_expire_while_the_only_broker_is_down(release: str, how: object) -> None:
    driver = GroupDriver(release, offsets_topic_num_partitions=1)
    members = driver.stable(None, None)
    restart(driver, how)
    assert driver.state == "Stable"
    assert [driver.heartbeat(member) for member in members] == [0, 0]
    driver.advance(SESSION_MS)
    assert driver.state == "Empty"


def test_nobody_is_answered_by_a_broker_that_is_down() -> None:
    driver = GroupDriver(offsets_topic_num_partitions=1)
    driver.stable(None)
    waiting: list[Asked] = [driver.enter(), driver.enter()]
    pending = driver.new_id()
    restart(driver)
    assert [each.parked for each in waiting] == [True, True]
    assert pending not in driver.group.pending


def test_a_coordinator_that_died_answers_nobody_and_another_takes_over() -> None:
    driver = replicated()
    (member,) = driver.stable(None)
    waiting = driver.enter()
    driver.kill_broker(driver.broker.id)
    driver.advance(9_000)
    driver.follow_coordinator()
    assert waiting.parked
    assert driver.heartbeat(member) == 0


def test_groups_go_with_the_topic_that_holds_them() -> None:
    driver = replicated()
    (member,) = driver.stable(None)
    driver.commit({("orders", 0): 5}, member)
    waiting = driver.enter()
    driver.ask(DeleteTopicsRequest([DeleteTopicState("__consumer_offsets")], timeout_ms=1000))
    assert waiting.error_code == NOT_COORDINATOR
    driver.follow_coordinator()
    assert driver.heartbeat(member) == ErrorCode.UNKNOWN_MEMBER_ID
    assert driver.offsets() == {}
