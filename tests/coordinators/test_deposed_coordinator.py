"""Commits that wait for replicas while another broker becomes the coordinator (KAFKA-20634)."""

import pytest

from mockbroker.protocol.errors import ErrorCode

from ..driving.cluster import Asked
from ..driving.groups import GroupDriver, replicated

KEY = ("orders", 0)
SESSION_MS = 10_000


def deposed(answer: str | None, release: str = "4.2", *, later: int = 2) -> tuple[GroupDriver, Asked, Asked]:
    """Offset 10 is committed. Then the coordinator is cut off, and gets a commit of 20, a heartbeat, and a
    commit of another group for three partitions; the next one gets so many commits of a third group, and the
    first is back."""
    policies = {} if answer is None else {"deposed-coordinator": answer}
    driver = replicated(release, policies, offsets_commit_timeout_ms=100_000)
    assert driver.commit({KEY: 10}) == {KEY: 0}
    (member,) = driver.stable(None)
    before = driver.broker.id
    driver.cut_off(before)
    waiting = driver.commit_later({KEY: 20}, member)
    heartbeat = driver.heartbeat_later(member)
    other = driver.commit_later({("payments", each): 1 for each in range(3)}, group_id="i")
    driver.advance(SESSION_MS)
    driver.follow_coordinator()
    assert driver.broker.id != before
    for offset in range(later):
        assert driver.commit({KEY: offset}, group_id="h") == {KEY: 0}
    assert waiting.parked
    driver.rejoin(before)
    assert error(other) == ErrorCode.NOT_COORDINATOR
    return driver, waiting, heartbeat


def error(asked: Asked) -> int:
    return int(asked.topics[0].partitions[0].error_code)


@pytest.mark.parametrize("release", ["4.0", "4.2", "4.4"])
def test_a_commit_is_acknowledged_and_lost(release: str) -> None:
    driver, waiting, heartbeat = deposed("acknowledges", release)
    assert error(waiting) == 0
    assert heartbeat.error_code == 0
    assert driver.offsets() == {KEY: 10}
    driver.advance(SESSION_MS)
    driver.move_coordinator()
    assert driver.offsets() == {KEY: 10}


@pytest.mark.parametrize("answer", [None, "refuses"])
def test_a_commit_is_refused(answer: str | None) -> None:
    driver, waiting, heartbeat = deposed(answer)
    assert error(waiting) == ErrorCode.NOT_COORDINATOR
    assert heartbeat.error_code == ErrorCode.NOT_COORDINATOR
    assert driver.offsets() == {KEY: 10}


@pytest.mark.parametrize("later", [0, 9])
def test_it_takes_as_many_records_of_others_and_no_more_than_were_written(later: int) -> None:
    _, waiting, _ = deposed("acknowledges", later=later)
    assert error(waiting) == ErrorCode.NOT_COORDINATOR
