"""A consumer group with as many members as it may have, and what real brokers of 4.2.0, 4.3.1 and 4.4.0
answer to those who join."""

import pytest

from mockbroker.protocol.errors import ErrorCode

from ...driving.groups import GroupDriver
from .playing import AT_ONCE, TOPICS, Client

E = ErrorCode


@pytest.mark.parametrize(
    ("kafka", "while_there", "once_it_left"),
    [
        ("4.2", E.GROUP_MAX_SIZE_REACHED, E.GROUP_MAX_SIZE_REACHED),
        ("4.3", E.GROUP_MAX_SIZE_REACHED, E.GROUP_MAX_SIZE_REACHED),
        ("4.4", E.UNRELEASED_INSTANCE_ID, E.NONE),
    ],
)
def test_a_static_member_comes_back(kafka: str, while_there: ErrorCode, once_it_left: ErrorCode) -> None:
    driver = GroupDriver(kafka, None, **AT_ONCE, group_consumer_max_size=1)
    member, other, again = (Client(driver, each, TOPICS) for each in "abc")
    assert member.beat(instance_id="i").error_code == 0
    assert other.beat(instance_id="j").error_code == E.GROUP_MAX_SIZE_REACHED
    assert again.beat(instance_id="i").error_code == while_there
    member.epoch = -2
    assert member.beat(instance_id="i").error_code == 0
    assert other.beat(instance_id="j").error_code == E.GROUP_MAX_SIZE_REACHED
    assert again.beat(instance_id="i").error_code == once_it_left
