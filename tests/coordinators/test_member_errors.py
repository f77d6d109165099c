"""What members are refused, as far as recorded answers don't say."""

import pytest

from mockbroker.protocol.errors import ErrorCode as E
from mockbroker.protocol.messages.heartbeat import HeartbeatRequest
from mockbroker.protocol.messages.join_group import JoinGroupRequest
from mockbroker.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from mockbroker.protocol.messages.sync_group import SyncGroupRequest

from ..driving.groups import GroupDriver

MEMBER_REQUESTS = [
    JoinGroupRequest("g", 10_000, member_id="x"),
    SyncGroupRequest("g", 1, "x", None, "consumer", "range"),
    HeartbeatRequest("g", 1, "x"),
    LeaveGroupRequest("g", [MemberIdentity("x")]),
]


@pytest.mark.parametrize("request_", MEMBER_REQUESTS)
def test_another_broker_is_not_the_coordinator(request_: object) -> None:
    driver = GroupDriver(brokers=2)
    (other,) = driver.others
    assert driver.ask(request_, broker=other).error_code == E.NOT_COORDINATOR


@pytest.mark.parametrize("session_ms", [5999, 1_800_001])
def test_session_timeouts_out_of_range(session_ms: int) -> None:
    asked = GroupDriver().join(session_ms=session_ms)
    assert (asked.error_code, asked.member_id) == (E.INVALID_SESSION_TIMEOUT, "")


@pytest.mark.parametrize(
    ("release", "group", "error"),
    [
        ("3.9", "g", E.NOT_COORDINATOR),
        ("4.0", "g", E.INVALID_SESSION_TIMEOUT),
        ("4.4", "g", E.INVALID_SESSION_TIMEOUT),
        ("4.4", "", E.INVALID_GROUP_ID),
    ],
)
def test_a_session_timeout_out_of_range_at_another_broker(release: str, group: str, error: E) -> None:
    driver = GroupDriver(release, brokers=2)
    (other,) = driver.others
    assert driver.ask(JoinGroupRequest(group, 5999), broker=other).error_code == error


def test_the_range_of_session_timeouts_is_configured() -> None:
    driver = GroupDriver(group_min_session_timeout_ms=1, group_max_session_timeout_ms=2)
    assert driver.join(session_ms=1).error_code == E.MEMBER_ID_REQUIRED
    assert driver.join(session_ms=3).error_code == E.INVALID_SESSION_TIMEOUT


def test_a_member_id_in_a_group_that_does_not_exist(driver: GroupDriver) -> None:
    asked = driver.join("x")
    assert (asked.error_code, asked.member_id) == (E.UNKNOWN_MEMBER_ID, "x")
    assert driver.state == "Dead"


@pytest.mark.parametrize(
    ("protocol_type", "protocols"), [("", {"range": b""}), ("consumer", {}), ("connect", {"range": b""})]
)
def test_protocols_that_do_not_fit(protocol_type: str, protocols: dict[str, bytes]) -> None:
    driver = GroupDriver()
    driver.stable(None)
    asked = driver.join(protocol_type=protocol_type, protocols=protocols)
    assert (asked.error_code, asked.member_id) == (E.INCONSISTENT_GROUP_PROTOCOL, "")
    assert asked.protocol_name is None


def test_a_protocol_that_the_others_do_not_support(driver: GroupDriver) -> None:
    (first,) = driver.stable(None)
    assert driver.join(protocols={"sticky": b""}).error_code == E.INCONSISTENT_GROUP_PROTOCOL
    assert driver.join(first.member_id, protocols={"x": b""}).error_code == E.INCONSISTENT_GROUP_PROTOCOL


def test_an_empty_group_needs_a_type_and_a_protocol_but_no_certain_one(driver: GroupDriver) -> None:
    assert driver.join(protocols={}).error_code == E.INCONSISTENT_GROUP_PROTOCOL
    (first,) = driver.stable(None)
    driver.leave(first.member_id)
    joined = driver.enter(protocol_type="connect", protocols={"compatible": b""})
    assert (joined.protocol_type, joined.protocol_name) == ("connect", "compatible")


def test_a_pending_member_joins_with_an_instance_id(driver: GroupDriver) -> None:
    pending = driver.new_id()
    asked = driver.join(pending, instance="i")
    assert (asked.error_code, asked.member_id) == (E.UNKNOWN_SERVER_ERROR, "")


def test_leaving_a_group_that_does_not_exist() -> None:
    answer = GroupDriver().leave("x", ("", "i"))
    assert answer.error_code == 0
    assert [(m.member_id, m.group_instance_id, m.error_code) for m in answer.members] == [
        ("x", None, E.UNKNOWN_MEMBER_ID),
        ("", "i", E.UNKNOWN_MEMBER_ID),
    ]


def test_leaving_by_ids_that_are_not_known(driver: GroupDriver) -> None:
    driver.stable(None)
    answer = driver.leave("x", ("", "i"), "")
    assert [m.error_code for m in answer.members] == [E.UNKNOWN_MEMBER_ID] * 3
    assert driver.state == "Stable"


@pytest.mark.parametrize(("release", "state"), [("3.9", "Stable"), ("4.4", "PreparingRebalance")])
def test_a_pending_member_leaves_a_stable_group(release: str, state: str) -> None:
    driver = GroupDriver(release)
    driver.stable(None)
    pending = driver.new_id()
    assert driver.leave(pending).members[0].error_code == 0
    assert driver.state == state
    assert driver.join(pending).error_code == E.UNKNOWN_MEMBER_ID
