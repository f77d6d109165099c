"""What the coordinator up to 3.9 and the one since 4.0 answer differently."""

import pytest

from mockbroker.outcome import NEVER
from mockbroker.policies.groups.tied_protocols import first_member, java_order, scala_order
from mockbroker.protocol.errors import ErrorCode as E
from mockbroker.protocol.messages.describe_groups import DescribeGroupsRequest
from mockbroker.protocol.messages.find_coordinator import FindCoordinatorRequest
from mockbroker.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from mockbroker.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)

from ..driving.groups import GroupDriver

SHARE_KEY = "group:with:colons:AAAAAAAAAAAAAAAAAAAAAQ:0"


def test_ties_are_broken_by_the_order_of_hashes() -> None:
    votes = {"range": 1, "roundrobin": 1}
    assert (scala_order(votes), java_order(votes), first_member(votes)) == ("roundrobin", "range", "range")
    votes = {"sticky": 2, "range": 2, "roundrobin": 1}
    assert first_member(votes) == "sticky"
    for order in (scala_order, java_order):
        assert order({"a": 1, "b": 2, "c": 1}) == "b"
        assert order(votes) in ("sticky", "range")
    # Bucket 8 of 16, though its hash is larger; as `java.util.HashMap` lists it.
    assert java_order({"range": 2, "sticky": 2, "roundrobin": 1}) == "sticky"


@pytest.mark.parametrize(("release", "protocol"), [("3.9", "roundrobin"), ("4.4", "range")])
def test_two_members_disagree(release: str, protocol: str) -> None:
    driver = GroupDriver(release)
    both = {"range": b"", "roundrobin": b""}
    first = driver.enter(protocols=both)
    second = driver.enter(protocols={"sticky": b"", "roundrobin": b"", "range": b""})
    driver.sync(first, version=4)
    driver.join(first.member_id, protocols=both)
    assert second.protocol_name == protocol


@pytest.mark.parametrize(("release", "assignment"), [("3.9", b""), ("4.4", b"a0")])
def test_describing_a_group_that_rebalances(release: str, assignment: bytes) -> None:
    driver = GroupDriver(release)
    driver.stable(None)
    driver.enter()
    group = driver.describe(5)
    assert group.group_state == "PreparingRebalance"
    assert [m.member_assignment for m in group.members] == [assignment, b""]


@pytest.mark.parametrize(("release", "operations"), [("3.9", 328), ("4.4", 3400)])
def test_operations_on_groups(release: str, operations: int) -> None:
    driver = GroupDriver(release)
    driver.stable(None)
    (group,) = driver.ask(DescribeGroupsRequest(["g"], True), 5).groups
    assert group.authorized_operations == operations


@pytest.mark.parametrize(("release", "times"), [("3.9", 1), ("4.4", 2)])
def test_a_partition_is_named_twice(release: str, times: int) -> None:
    driver = GroupDriver(release)
    partitions = [OffsetCommitRequestPartition(0, offset) for offset in (1, 2)]
    request = OffsetCommitRequest("g", topics=[OffsetCommitRequestTopic(None, partitions, "orders")])
    (topic,) = driver.ask(request, 9).topics
    assert [(p.partition_index, p.error_code) for p in topic.partitions] == [(0, 0)] * times
    topics = [
        OffsetFetchRequestTopics(None, [0, 0], "orders"),
        OffsetFetchRequestTopics(None, [], "payments"),
    ]
    (group,) = driver.ask(OffsetFetchRequest([OffsetFetchRequestGroup("g", topics=topics)]), 9).groups
    assert [p.committed_offset for p in group.topics[0].partitions] == [2] * times
    assert len(group.topics) == times


def test_no_groups_are_fetched() -> None:
    assert GroupDriver("4.4").ask(OffsetFetchRequest([]), 9).groups == []
    assert GroupDriver("3.9").ask(OffsetFetchRequest([]), 9).outcome is NEVER


@pytest.mark.parametrize(
    ("release", "key", "error"),
    [
        ("3.9", SHARE_KEY, E.COORDINATOR_NOT_AVAILABLE),
        ("4.0", SHARE_KEY, E.INVALID_REQUEST),
        ("4.4", SHARE_KEY, E.NONE),
        ("4.4", "group", E.INVALID_REQUEST),
        ("4.4", ":AAAAAAAAAAAAAAAAAAAAAQ:0", E.INVALID_REQUEST),
        ("4.4", "group:AAAA:0", E.INVALID_REQUEST),
        ("4.4", "group:AAAAAAAAAAAAAAAAAAAAAQ:x", E.INVALID_REQUEST),
    ],
)
def test_share_partitions(release: str, key: str, error: E) -> None:
    driver = GroupDriver(release)
    (found,) = driver.ask(FindCoordinatorRequest(2, [key]), 6).coordinators
    assert (found.error_code, found.node_id) == (error, -1 if error else 1)
    (old,) = driver.ask(FindCoordinatorRequest(2, [key]), 5).coordinators
    assert (old.error_code, old.error_message) == (E.INVALID_REQUEST, "")
