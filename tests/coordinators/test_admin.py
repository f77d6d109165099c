"""FindCoordinator, DescribeGroups, ListGroups, DeleteGroups."""

import pytest

from mockbroker.protocol.errors import ErrorCode as E
from mockbroker.protocol.messages.delete_groups import DeleteGroupsRequest
from mockbroker.protocol.messages.describe_groups import DescribeGroupsRequest
from mockbroker.protocol.messages.find_coordinator import FindCoordinatorRequest, upgrade
from mockbroker.protocol.messages.list_groups import ListGroupsRequest

from ..driving.groups import GroupDriver, subscription


def test_describing_a_stable_group(driver: GroupDriver) -> None:
    (only,) = driver.stable("one")
    group = driver.describe()
    assert (group.error_code, group.error_message, group.group_id) == (0, None, "g")
    assert (group.group_state, group.protocol_type, group.protocol_data) == ("Stable", "consumer", "range")
    (member,) = group.members
    assert (member.member_id, member.group_instance_id) == (only.member_id, "one")
    assert (member.client_id, member.client_host) == ("c", "/127.0.0.1")
    assert (member.member_metadata, member.member_assignment) == (subscription("orders"), b"a0")
    assert group.authorized_operations == -2147483648


def test_describing_a_group_that_is_not_stable(driver: GroupDriver) -> None:
    driver.enter()
    (group,) = driver.ask(DescribeGroupsRequest(["g"], True)).groups
    assert (group.group_state, group.protocol_data) == ("CompletingRebalance", "")
    assert (group.members[0].member_metadata, group.members[0].member_assignment) == (b"", b"")
    assert group.authorized_operations == 3400


@pytest.mark.parametrize("version", range(7))
def test_describing_a_group_that_does_not_exist(version: int) -> None:
    (group,) = GroupDriver().ask(DescribeGroupsRequest(["g"], version >= 3), version).groups
    assert (group.group_state, group.protocol_type, group.members) == ("Dead", "", [])
    if version < 6:
        assert (group.error_code, group.error_message) == (0, None)
    else:
        assert (group.error_code, group.error_message) == (E.GROUP_ID_NOT_FOUND, "Group g not found.")
        assert group.authorized_operations == -2147483648


def test_groups_of_another_broker() -> None:
    driver = GroupDriver(brokers=2)
    (other,) = driver.others
    driver.stable(None)
    group = driver.describe(broker=other)
    assert (group.error_code, group.group_state) == (E.NOT_COORDINATOR, "")
    assert driver.listed(broker=other) == []
    assert driver.delete(broker=other) == E.NOT_COORDINATOR


@pytest.mark.parametrize(
    ("states", "types", "found"),
    [
        ([], [], {"g", "h"}),
        (["stable"], [], {"g"}),
        (["EMPTY", "Dead"], [], {"h"}),
        (["nothing"], [], set()),
        ([], ["Classic"], {"g", "h"}),
        ([], ["consumer"], set()),
        (["Stable"], ["classic"], {"g"}),
    ],
)
def test_listing(driver: GroupDriver, states: list[str], types: list[str], found: set[str]) -> None:
    driver.stable(None)
    driver.commit({("orders", 0): 1}, group_id="h")
    groups = driver.ask(ListGroupsRequest(states, types)).groups
    assert {g.group_id for g in groups} == found
    assert {(g.group_id, g.protocol_type, g.group_state, g.group_type) for g in groups} <= {
        ("g", "consumer", "Stable", "classic"),
        ("h", "", "Empty", "classic"),
    }


def test_deleting(driver: GroupDriver) -> None:
    driver.stable(None)
    driver.commit({("orders", 0): 1}, group_id="h")
    results = driver.ask(DeleteGroupsRequest(["g", "h", "i", "h", ""])).results
    assert [(r.group_id, r.error_code) for r in results] == [
        ("g", E.NON_EMPTY_GROUP),
        ("h", 0),
        ("i", E.GROUP_ID_NOT_FOUND),
        ("", E.GROUP_ID_NOT_FOUND),
    ]
    assert list(driver.broker.groups.groups) == ["g"]


def test_deleting_a_group_with_a_pending_member(driver: GroupDriver) -> None:
    pending = driver.new_id()
    assert driver.delete() == 0
    assert driver.join(pending).error_code == E.UNKNOWN_MEMBER_ID
    driver.advance(10**7)
    assert driver.cluster.next_deadline() is None


@pytest.mark.parametrize("version", range(7))
@pytest.mark.parametrize("key_type", [0, 1])
def test_finding_the_coordinator(version: int, key_type: int) -> None:
    driver = GroupDriver(brokers=3)
    request = FindCoordinatorRequest(key_type, ["g"], "g")
    (found,) = driver.ask(upgrade(request, version), version).coordinators
    broker = driver.broker if key_type == 0 else driver.cluster.brokers[found.node_id]
    assert (found.key, found.error_code) == ("g", 0)
    assert (found.node_id, found.host, found.port) == (broker.id, broker.endpoint.host, broker.endpoint.port)
    assert found.error_message == ("NONE" if version < 4 else "")


def test_transactional_ids_spread_over_brokers() -> None:
    driver = GroupDriver(brokers=3)
    keys = [f"tx-{i}" for i in range(50)]
    found = driver.ask(FindCoordinatorRequest(1, keys)).coordinators
    assert [c.key for c in found] == keys
    assert {c.node_id for c in found} == {1, 2, 3}
    partitions = driver.cluster.topics["__transaction_state"].partitions
    assert {c.node_id for c in found} == {partition.leader for partition in partitions}


def test_a_coordinator_of_an_unknown_kind(driver: GroupDriver) -> None:
    (found,) = driver.ask(FindCoordinatorRequest(7, ["g"]), 4).coordinators
    assert (found.error_code, found.node_id, found.host, found.port) == (E.INVALID_REQUEST, -1, "", -1)
