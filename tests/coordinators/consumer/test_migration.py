"""Groups with members of the classic and of the consumer protocol (KIP-848)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import rule

from mockbroker.protocol.consumer_protocol import read_assignment, read_subscription, write_assignment
from mockbroker.protocol.errors import ErrorCode
from mockbroker.rig.migration_scene import subscription
from tests.driving.cluster import Asked
from tests.driving.groups import REBALANCE_MS, SESSION_MS, Generation, GroupDriver

from .playing import AT_ONCE, TOPICS, Client, Owned, Playing, group_of

E = ErrorCode
NO_DELAY: dict[str, Any] = {**AT_ONCE, "group_initial_rebalance_delay_ms": 0}
LOST = (E.UNKNOWN_MEMBER_ID, E.ILLEGAL_GENERATION, E.FENCED_INSTANCE_ID)


class ClassicClient:
    """A member of the classic protocol as a client keeps it. A cooperative one keeps what it has while it
    joins again; an eager one gives up all."""

    def __init__(self, driver: GroupDriver, topics: list[str], *, cooperative: bool = False) -> None:
        self._driver, self.topics, self._cooperative = driver, topics, cooperative
        self.id, self.generation = "", -1
        self.owned: dict[str, list[int]] = {}
        self._joining: Asked | None = None
        self._syncing: Asked | None = None
        self._rejoins = True

    @property
    def reads(self) -> Owned:
        known = self._driver.cluster.topics
        return {known[name].id: frozenset(found) for name, found in self.owned.items() if name in known}

    def beat(self) -> None:
        """Goes on with what it is about, as far as it need not wait for others."""
        if self._joining is not None:
            self._joined(self._joining)
        elif self._syncing is not None:
            self._synced(self._syncing)
        elif self._rejoins:
            self._join()
        else:
            code = self._driver.heartbeat(Generation(self.generation, self.id))
            if code in LOST:
                self._lost(code)
            elif code:
                assert code == E.REBALANCE_IN_PROGRESS
                self._rejoins = True

    def leave(self) -> None:
        if self.id:
            self._driver.leave(self.id)
        self.owned = {}

    def _lost(self, code: int) -> None:
        """It keeps its id if only its generation is wrong (`AbstractCoordinator.java`)."""
        self.owned, self.generation, self._rejoins = {}, -1, True
        if code != E.ILLEGAL_GENERATION:
            self.id = ""

    def _join(self) -> None:
        if not self._cooperative:
            self.owned = {}
        self._rejoins = False
        offered = {"range": subscription(self.topics, self.owned)}
        self._joined(self._driver.join(self.id, protocols=offered))

    def _joined(self, answer: Asked) -> None:
        self._joining = answer if answer.parked else None
        if answer.parked:
            return
        if answer.error_code:
            self._failed(answer)
            return
        self.id, self.generation = answer.member_id, answer.generation_id
        given = self._plan(answer) if answer.leader == self.id else None
        self._synced(self._driver.sync(Generation(self.generation, self.id), given))

    def _synced(self, answer: Asked) -> None:
        self._syncing = answer if answer.parked else None
        if answer.parked:
            return
        if answer.error_code:
            self._failed(answer)
            return
        found = read_assignment(answer.assignment).partitions if answer.assignment else []
        before, self.owned = self.owned, {name: list(indexes) for name, indexes in found}
        self._rejoins = any(set(had) - set(self.owned.get(name, ())) for name, had in before.items())

    def _failed(self, answer: Asked) -> None:
        self._rejoins = True
        if answer.error_code == E.MEMBER_ID_REQUIRED:
            self.id = answer.member_id
        elif answer.error_code in LOST:
            self._lost(answer.error_code)

    def _plan(self, joined: Asked) -> dict[str, bytes]:
        """Partitions in turn; none goes to a member while another one owns it."""
        said = {each.member_id: read_subscription(bytes(each.metadata)) for each in joined.members}
        owner = {
            (name, index): member
            for member, each in said.items()
            for name, found in each.owned
            for index in found
        }
        given: dict[str, dict[str, list[int]]] = {member: {} for member in said}
        for name, topic in self._driver.cluster.topics.items():
            members = sorted(member for member, each in said.items() if name in each.topics)
            for index in range(len(topic.partitions) if members else 0):
                member = members[index % len(members)]
                if owner.get((name, index), member) == member:
                    given[member].setdefault(name, []).append(index)
        return {member: write_assignment(found.items(), 1) for member, found in given.items()}


class Both(Playing[Client | ClassicClient]):
    """Members of both protocols. A classic group that another coordinator has loaded may have members that
    have left, until their sessions are over."""

    config = NO_DELAY
    rounds, pause_ms = 40, 1_000

    @rule(topics=st.lists(st.sampled_from(TOPICS), unique=True))
    def join(self, topics: list[str]) -> None:
        name = self.new_name()
        self.add(name, Client(self.driver, name, topics))

    @rule(topics=st.lists(st.sampled_from(TOPICS), unique=True), cooperative=st.booleans())
    def join_as_before(self, topics: list[str], cooperative: bool) -> None:
        self.add(self.new_name(), ClassicClient(self.driver, topics, cooperative=cooperative))


TestBoth = Both.TestCase
TestBoth.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)


def mixed(kafka: str = "4.4", **config: Any) -> tuple[GroupDriver, Client, ClassicClient]:
    """A group of one member of each protocol, which have their shares."""
    given = {key: value for key, value in NO_DELAY.items() if kafka != "4.0" or key not in AT_ONCE}
    driver = GroupDriver(kafka, brokers=3, **{**given, **config})
    consumer, classic = Client(driver, "consumer", TOPICS), ClassicClient(driver, TOPICS)
    consumer.beat()
    for _ in range(10):
        classic.beat()
        consumer.beat()
    shares = [sum(map(len, each.reads.values())) for each in (consumer, classic)]
    assert shares == [3, 3]
    return driver, consumer, classic


def pass_time(driver: GroupDriver, seconds: int, *alive: Client | ClassicClient) -> None:
    """While these members send heartbeats."""
    for _ in range(seconds):
        driver.advance(1_000)
        for each in alive:
            each.beat()


def test_a_silent_classic_member_is_removed_after_its_own_session_timeout() -> None:
    driver, consumer, _ = mixed()
    pass_time(driver, SESSION_MS // 1_000 - 1, consumer)
    assert len(group_of(driver).members) == 2
    pass_time(driver, 1, consumer)
    assert list(group_of(driver).members) == ["consumer"]


def test_the_group_is_a_classic_one_once_the_last_consumer_is_silent() -> None:
    driver, consumer, classic = mixed()
    pass_time(driver, 44, classic)
    assert driver.groups.groups["g"].type == "consumer"
    pass_time(driver, 5, classic)
    assert driver.state == "Stable"
    assert sum(len(found) for found in classic.reads.values()) == 6
    consumer.beat()
    assert consumer.epoch == 0


def test_sessions_begin_anew_in_the_classic_group() -> None:
    driver, consumer, _ = mixed()
    consumer.leave()
    driver.advance(SESSION_MS - 1)
    assert len(driver.group.members) == 1
    driver.advance(1)
    assert not driver.group.members


def test_a_classic_member_that_does_not_join_again_is_removed() -> None:
    """It is told to with each heartbeat, and its rebalance timeout goes on."""
    driver, consumer, classic = mixed()
    Client(driver, "another", TOPICS).beat()
    other = Client(driver, "third", TOPICS)
    member = Generation(classic.generation, classic.id)
    for _ in range(REBALANCE_MS // 5_000):
        assert driver.heartbeat(member) == E.REBALANCE_IN_PROGRESS
        for each in (consumer, other):
            each.beat()
        driver.advance(5_000)
    assert driver.heartbeat(member) == E.UNKNOWN_MEMBER_ID


def test_a_classic_member_that_does_not_sync_is_removed() -> None:
    driver, consumer, classic = mixed()
    joined = driver.join(classic.id, protocols={"range": subscription(TOPICS, classic.owned)})
    for _ in range(REBALANCE_MS // 5_000):
        assert driver.heartbeat(joined) == E.NONE
        consumer.beat()
        driver.advance(5_000)
    assert driver.heartbeat(joined) == E.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("kafka", ["4.3", "4.4"])
def test_another_coordinator_knows_members_of_both_protocols(kafka: str) -> None:
    driver, consumer, classic = mixed(kafka)
    before = group_of(driver)
    driver.move_coordinator()
    after = group_of(driver)
    assert after is not before
    assert after.members == before.members
    assert after.classics == 1
    assert driver.heartbeat(Generation(classic.generation, classic.id)) == E.NONE
    consumer.leave()
    driver.move_coordinator()
    assert driver.state == "Stable"
    assert list(driver.group.members) == [classic.id]


@pytest.mark.parametrize(
    ("policy", "upgrades", "downgrades"),
    [("disabled", False, False), ("Upgrade", True, False), ("DOWNGRADE", False, True)],
)
def test_the_migration_policy(policy: str, upgrades: bool, downgrades: bool) -> None:
    config = {**NO_DELAY, "group_consumer_migration_policy": policy}
    driver = GroupDriver(**config)
    classic = ClassicClient(driver, TOPICS)
    for _ in range(3):
        classic.beat()
    joined = Client(driver, "consumer", TOPICS).beat()
    assert joined.error_code == (E.NONE if upgrades else E.GROUP_ID_NOT_FOUND)
    if not upgrades:
        assert joined.error_message.endswith("because online upgrade is disabled.")
    if policy == "disabled":
        return
    driver, consumer, classic = mixed(group_consumer_migration_policy=policy)
    consumer.leave()
    assert (driver.groups.groups["g"].type == "classic") == downgrades


@pytest.mark.parametrize(
    ("answer", "error"),
    [("server-error", E.UNKNOWN_SERVER_ERROR), ("inconsistent-protocol", E.INCONSISTENT_GROUP_PROTOCOL)],
)
def test_a_subscription_that_can_not_be_read(answer: str, error: ErrorCode) -> None:
    driver = GroupDriver(policies={"unreadable-member": answer}, **NO_DELAY)
    Client(driver, "consumer", TOPICS).beat()
    assert driver.join(version=3, protocols={"range": b"x"}).error_code == error


def test_without_migration_classic_members_can_not_join() -> None:
    driver = GroupDriver(**NO_DELAY, group_consumer_migration_policy="disabled")
    Client(driver, "consumer", TOPICS).beat()
    assert driver.join().error_code == E.INCONSISTENT_GROUP_PROTOCOL


@pytest.mark.parametrize(
    ("kafka", "error"), [("4.0", E.REBALANCE_IN_PROGRESS), ("4.3", E.NONE), ("4.4", E.NONE)]
)
def test_partitions_that_nobody_gets(kafka: str, error: ErrorCode) -> None:
    """As real brokers of 4.0.1, 4.2.0, 4.3.1 and 4.4.0 answered: since 4.3 nobody is told that the last
    member of the consumer protocol has left, if the group may not become a classic one."""
    driver, consumer, classic = mixed(kafka, group_consumer_migration_policy="upgrade")
    consumer.leave()
    for _ in range(5):
        assert driver.heartbeat(Generation(classic.generation, classic.id)) == error
        driver.advance(5_000)
    assert group_of(driver).epoch > group_of(driver).assignment_epoch


def test_a_group_without_a_generation_can_not_migrate() -> None:
    """As real brokers of 4.0.1 and 4.4.0 answered; what waited for others joins again."""
    driver = GroupDriver(group_initial_rebalance_delay_ms=3_000)
    waiting = driver.enter()
    assert waiting.parked
    assert Client(driver, "consumer", TOPICS).beat().error_code == E.UNKNOWN_SERVER_ERROR
    assert waiting.error_code == E.REBALANCE_IN_PROGRESS
    again = driver.join(waiting.member_id)
    driver.advance(3_000)
    assert again.generation_id == 1


def test_a_group_that_is_too_large_stays_what_it_is() -> None:
    driver = GroupDriver(**NO_DELAY, group_consumer_max_size=1)
    driver.stable(None, None)
    answer = Client(driver, "consumer", TOPICS).beat()
    assert answer.error_code == E.GROUP_ID_NOT_FOUND
    assert "exceeds the consumer group maximum size" in answer.error_message
    driver, consumer, _ = mixed(group_max_size=1)
    third = ClassicClient(driver, TOPICS)
    for _ in range(3):
        third.beat()
    consumer.leave()
    assert len(group_of(driver).members) == 2


def test_of_an_empty_consumer_group_that_becomes_a_classic_one_nothing_is_left() -> None:
    """The next coordinator would load a consumer group (`maybeDeleteEmptyConsumerGroup`)."""
    driver = GroupDriver(brokers=3, **NO_DELAY)
    consumer, classic = Client(driver, "consumer", TOPICS), ClassicClient(driver, TOPICS)
    consumer.beat()
    consumer.leave()
    for _ in range(3):
        classic.beat()
    driver.move_coordinator()
    assert driver.state == "Stable"
    assert driver.heartbeat(Generation(classic.generation, classic.id)) == E.NONE


def test_an_empty_consumer_group_stays_one_when_somebody_unknown_joins_it() -> None:
    """As a real broker of 4.4.0 answered: it becomes a classic group only with a new member."""
    driver = GroupDriver(brokers=1, **NO_DELAY)
    consumer = Client(driver, "consumer", TOPICS)
    consumer.beat()
    consumer.leave()
    assert driver.join("stranger").error_code == E.UNKNOWN_MEMBER_ID
    assert group_of(driver).type == "consumer"
    assert driver.join(version=3).error_code == E.NONE
    assert driver.state == "CompletingRebalance"
