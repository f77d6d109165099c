"""Static members of consumer groups that join again with their own member id."""

import pytest

from mockbroker.protocol.errors import ErrorCode

from ...driving.groups import GroupDriver
from .playing import AT_ONCE, TOPICS, Client

E = ErrorCode


def joined(answer: str, *, instance: str | None) -> tuple[GroupDriver, Client]:
    """A member that does not hear that it has joined."""
    driver = GroupDriver("4.4", {"static-joining-again": answer}, **AT_ONCE)
    member = Client(driver, "a", TOPICS)
    assert member.beat(instance_id=instance).error_code == 0
    assert member.epoch > 0
    member.epoch, member.reads = 0, {}
    return driver, member


@pytest.mark.parametrize("answer", ["unreleased", "accepted"])
def test_a_dynamic_member_gets_its_assignment_back(answer: str) -> None:
    _, member = joined(answer, instance=None)
    assert member.beat().error_code == 0
    assert sum(map(len, member.reads.values())) == 6


def test_a_static_member_is_refused_because_of_itself() -> None:
    _, member = joined("unreleased", instance="i")
    assert member.beat(instance_id="i").error_code == E.UNRELEASED_INSTANCE_ID


def test_a_static_member_gets_its_assignment_back() -> None:
    driver, member = joined("accepted", instance="i")
    assert member.beat(instance_id="i").error_code == 0
    assert sum(map(len, member.reads.values())) == 6
    other = Client(driver, "b", TOPICS)
    assert other.beat(instance_id="i").error_code == E.UNRELEASED_INSTANCE_ID


@pytest.mark.parametrize(("before", "after"), [("i", "j"), ("i", None), (None, "i")])
def test_a_member_keeps_its_instance_id(before: str | None, after: str | None) -> None:
    _, member = joined("accepted", instance=before)
    assert member.beat(instance_id=after).error_code == E.INVALID_REQUEST


def test_a_static_member_that_left_for_a_while_comes_back() -> None:
    driver, member = joined("accepted", instance="i")
    member.beat(instance_id="i")
    member.epoch = -2
    member.reads = {}
    assert driver.ask_for(
        "consumer_group_heartbeat", group_id="g", member_id="a", member_epoch=-2, instance_id="i"
    ).error_code in (0, E.NONE)
    member.epoch = 0
    assert member.beat(instance_id="i").error_code == 0
