"""OffsetCommit, OffsetFetch, OffsetDelete."""

from uuid import UUID

import pytest

from mockbroker.coordinators.offsets import CommittedOffset
from mockbroker.protocol.errors import ErrorCode as E
from mockbroker.protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestTopic
from mockbroker.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)

from ..driving.cluster import Asked
from ..driving.groups import GroupDriver, subscription

O0, O1, P0 = ("orders", 0), ("orders", 1), ("payments", 0)


def deleted(answer: Asked) -> dict[tuple[str, int], int]:
    return {(t.name, p.partition_index): p.error_code for t in answer.topics for p in t.partitions}


def test_a_consumer_outside_of_group_management(driver: GroupDriver) -> None:
    assert driver.commit({O0: 5, P0: 6}) == {O0: 0, P0: 0}
    assert driver.state == "Empty"
    one = driver.fetch(O0)[O0]
    assert (one.committed_offset, one.committed_leader_epoch, one.metadata) == (5, 7, "")
    assert driver.fetch(O1)[O1].committed_offset == -1
    assert driver.offsets() == {O0: 5, P0: 6}


def test_of_a_group_that_is_not_known_nothing_is_committed(driver: GroupDriver) -> None:
    one = driver.fetch(O0)[O0]
    assert (one.committed_offset, one.committed_leader_epoch, one.metadata, one.error_code) == (-1, -1, "", 0)
    assert driver.offsets() == {}


def test_a_member_commits(driver: GroupDriver) -> None:
    (only,) = driver.stable(None)
    assert driver.commit({O0: 5}, only, metadata="note") == {O0: 0}
    assert driver.fetch(O0)[O0].metadata == "note"


def test_a_commit_is_a_heartbeat(driver: GroupDriver) -> None:
    (only,) = driver.stable(None)
    driver.advance(9_000)
    driver.commit({O0: 5}, only)
    driver.advance(9_000)
    assert driver.heartbeat(only) == 0


def test_who_may_commit(driver: GroupDriver) -> None:
    first, second = driver.stable(None, None)
    assert driver.commit({O0: 1}) == {O0: E.UNKNOWN_MEMBER_ID}
    assert driver.commit({O0: 1}, first, member_id="x") == {O0: E.UNKNOWN_MEMBER_ID}
    assert driver.commit({O0: 1}, first, generation_id_or_member_epoch=1) == {O0: E.ILLEGAL_GENERATION}
    assert driver.commit({O0: 1}, first, generation_id_or_member_epoch=-1) == {O0: E.ILLEGAL_GENERATION}
    again = driver.join(first.member_id)
    assert driver.commit({O0: 1}, second) == {O0: 0}
    driver.join(second.member_id)
    assert driver.commit({O0: 1}, again) == {O0: E.REBALANCE_IN_PROGRESS}
    assert driver.commit({O0: 1}, second) == {O0: E.ILLEGAL_GENERATION}


@pytest.mark.parametrize(
    ("release", "version", "error"),
    [
        ("3.9", 8, E.ILLEGAL_GENERATION),
        ("3.9", 9, E.ILLEGAL_GENERATION),
        ("4.4", 8, E.ILLEGAL_GENERATION),
        ("4.4", 9, E.GROUP_ID_NOT_FOUND),
    ],
)
def test_a_generation_of_a_group_that_is_not_known(release: str, version: int, error: E) -> None:
    driver = GroupDriver(release)
    assert driver.commit({O0: 1}, generation_id_or_member_epoch=0, version=version) == {O0: error}
    assert driver.state == "Dead"


def test_topics_and_partitions_that_do_not_exist(driver: GroupDriver) -> None:
    unknown = E.UNKNOWN_TOPIC_OR_PARTITION
    assert driver.commit({O0: 1, ("orders", 3): 1, ("nope", 0): 1}) == {
        O0: 0,
        ("orders", 3): unknown,
        ("nope", 0): unknown,
    }
    assert driver.offsets() == {O0: 1}


def test_without_a_known_partition_the_group_is_not_asked() -> None:
    driver = GroupDriver(brokers=2)
    (other,) = driver.others
    assert driver.ask(OffsetCommitRequest("g"), 9, broker=other).topics == []


def test_by_topic_id(driver: GroupDriver) -> None:
    assert driver.commit({O0: 1}, version=10) == {O0: 0}
    assert driver.fetch(O0, version=10)[O0].committed_offset == 1
    (topic,) = driver.fetch_later(version=10).groups[0].topics
    assert topic.topic_id == driver.cluster.topics["orders"].id


def test_a_topic_id_that_is_not_known(driver: GroupDriver) -> None:
    nobody = UUID(int=1)
    request = OffsetCommitRequest("g")
    request.topics.append(OffsetCommitRequestTopic(nobody))
    assert driver.ask(request, 10).topics == []
    assert driver.commit({("nope", 0): 1}, version=10) == {("nope", 0): E.UNKNOWN_TOPIC_ID}
    asked = OffsetFetchRequestGroup("g", topics=[OffsetFetchRequestTopics(nobody, [3])])
    (topic,) = driver.ask(OffsetFetchRequest([asked]), 10).groups[0].topics
    (partition,) = topic.partitions
    assert (topic.topic_id, partition.partition_index) == (nobody, 3)
    assert partition.error_code == E.UNKNOWN_TOPIC_ID
    assert (partition.committed_offset, partition.metadata) == (-1, "")


def test_metadata_that_is_too_long() -> None:
    driver = GroupDriver(offset_metadata_max_bytes=4)
    assert driver.commit({O0: 1}, metadata="12345") == {O0: E.OFFSET_METADATA_TOO_LARGE}
    assert driver.commit({O0: 1}, metadata="äöüß") == {O0: 0}
    assert driver.commit({O0: 1}, metadata="😀😀") == {O0: 0}
    assert driver.commit({O0: 1}, metadata="😀😀1") == {O0: E.OFFSET_METADATA_TOO_LARGE}


@pytest.mark.parametrize(("release", "seen"), [("3.9", "Empty"), ("4.4", "Dead")])
def test_a_group_that_began_with_a_commit_of_nothing_is_seen_once_something_is_written(
    release: str, seen: str
) -> None:
    driver = GroupDriver(release, offset_metadata_max_bytes=4, offsets_topic_num_partitions=1)
    assert driver.commit({O0: 1}, metadata="12345") == {O0: E.OFFSET_METADATA_TOO_LARGE}
    assert described(driver) == (seen, ["g"] if seen == "Empty" else [])
    pending = driver.new_id()
    assert described(driver) == (seen, ["g"] if seen == "Empty" else [])
    assert driver.commit({O0: 1}, generation_id_or_member_epoch=1, member_id=pending) == {
        O0: E.UNKNOWN_MEMBER_ID
    }
    driver.commit({O0: 1}, group_id="h")
    assert described(driver) == ("Empty", ["g", "h"])


def described(driver: GroupDriver) -> tuple[str, list[str]]:
    """What DescribeGroups says of the group, and the groups that are listed."""
    return driver.describe(5).group_state, driver.listed()


def test_a_group_that_nothing_was_written_of_can_be_deleted() -> None:
    driver = GroupDriver(offset_metadata_max_bytes=4)
    driver.commit({O0: 1}, metadata="12345")
    for error in (E.NONE, E.GROUP_ID_NOT_FOUND):
        assert driver.delete() == error


def test_the_empty_group_id_is_valid_for_offsets(driver: GroupDriver) -> None:
    assert driver.commit({O0: 3}, group_id="") == {O0: 0}
    assert driver.fetch(group="")[O0].committed_offset == 3


def test_several_groups_at_once(driver: GroupDriver) -> None:
    driver.commit({O0: 3})
    driver.commit({O0: 4}, group_id="h")
    groups = [OffsetFetchRequestGroup(g, topics=None) for g in ("g", "h", "i")]
    answer = driver.ask(OffsetFetchRequest(groups), 9)
    found = [[p.committed_offset for t in g.topics for p in t.partitions] for g in answer.groups]
    assert found == [[3], [4], []]


@pytest.mark.parametrize("version", range(1, 11))
def test_asking_another_broker(version: int) -> None:
    driver = GroupDriver(brokers=2)
    (other,) = driver.others
    (group,) = driver.fetch_later(O0, version=version, broker=other).groups
    if version == 1:
        assert [p.error_code for t in group.topics for p in t.partitions] == [E.NOT_COORDINATOR]
    else:
        assert (group.error_code, group.topics) == (E.NOT_COORDINATOR, [])


def test_offsets_of_open_transactions_are_unstable(driver: GroupDriver) -> None:
    driver.commit({O0: 1})
    driver.group.offsets.open[1] = {O0: CommittedOffset(9, -1, "", 0)}
    one = driver.fetch(O0, stable=True)[O0]
    assert (one.committed_offset, one.error_code) == (-1, E.UNSTABLE_OFFSET_COMMIT)
    assert driver.fetch(O0)[O0].committed_offset == 1


def test_offsets_go_with_their_topic(driver: GroupDriver) -> None:
    driver.commit({O0: 1, P0: 2})
    driver.cluster.delete_topics([driver.cluster.topics["orders"]])
    assert driver.offsets() == {P0: 2}


def test_deleting_offsets_of_an_empty_group(driver: GroupDriver) -> None:
    driver.commit({O0: 1, O1: 1, P0: 2})
    answer = driver.delete_offsets(O0, P0, ("nope", 0), ("orders", 9))
    assert deleted(answer) == {
        O0: 0,
        P0: 0,
        ("nope", 0): E.UNKNOWN_TOPIC_OR_PARTITION,
        ("orders", 9): E.UNKNOWN_TOPIC_OR_PARTITION,
    }
    assert driver.offsets() == {O1: 1}


def test_deleting_offsets_of_a_topic_that_is_subscribed(driver: GroupDriver) -> None:
    (only,) = driver.stable(None)
    driver.commit({O0: 1, P0: 2}, only)
    assert deleted(driver.delete_offsets(O0, P0)) == {O0: E.GROUP_SUBSCRIBED_TO_TOPIC, P0: 0}
    assert driver.offsets() == {O0: 1}


def test_a_subscription_that_can_not_be_read_may_be_to_any_topic(driver: GroupDriver) -> None:
    driver.stable(None, protocols={"range": b"\0"})
    assert deleted(driver.delete_offsets(P0)) == {P0: E.GROUP_SUBSCRIBED_TO_TOPIC}


def test_all_members_subscriptions_count(driver: GroupDriver) -> None:
    (only,) = driver.stable(None)
    driver.enter(protocols={"range": subscription("payments")})
    driver.join(only.member_id)
    assert set(deleted(driver.delete_offsets(O0, P0)).values()) == {E.GROUP_SUBSCRIBED_TO_TOPIC}


def test_deleting_offsets_of_other_members_than_consumers(driver: GroupDriver) -> None:
    driver.enter(protocol_type="connect")
    assert driver.delete_offsets(O0).error_code == E.NON_EMPTY_GROUP


def test_deleting_offsets_of_no_group(driver: GroupDriver) -> None:
    answer = driver.delete_offsets(O0, ("nope", 0))
    assert (answer.error_code, answer.topics) == (E.GROUP_ID_NOT_FOUND, [])
    assert driver.delete_offsets(O0, group="").error_code == E.INVALID_GROUP_ID


@pytest.mark.parametrize(("release", "state"), [("3.9", "Dead"), ("4.4", "Empty")])
def test_a_group_without_members_loses_its_last_offset(release: str, state: str) -> None:
    driver = GroupDriver(release)
    driver.commit({O0: 1})
    driver.delete_offsets(O0)
    assert driver.state == state
    driver.commit({O0: 1})
    driver.cluster.delete_topics([driver.cluster.topics["orders"]])
    assert driver.state == state
