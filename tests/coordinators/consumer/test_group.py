"""Consumer groups (KIP-848): nobody reads what another member has, and the group settles."""

import re
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from mockbroker.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
)
from tests.driving.groups import Generation, GroupDriver

from .playing import AT_ONCE, TOPICS, Client, Playing, group_of, read_by

E = ErrorCode
SESSION_MS = 45_000


class Members(Playing[Client]):
    @rule(topics=st.lists(st.sampled_from(TOPICS), unique=True))
    def join(self, topics: list[str]) -> None:
        name = self.new_name()
        self.add(name, Client(self.driver, name, topics))

    @precondition(lambda self: self.clients)
    @rule(data=st.data(), topics=st.lists(st.sampled_from(TOPICS), unique=True))
    def subscribe(self, data: st.DataObject, topics: list[str]) -> None:
        client = data.draw(st.sampled_from(list(self.clients.values())))
        client.topics = topics
        client.beat(subscribed_topic_names=topics)

    @rule(topic=st.sampled_from(TOPICS))
    def grow(self, topic: str) -> None:
        known = self.driver.cluster.topics
        if topic in known and len(known[topic].partitions) < 6:
            known[topic].add_partitions([[1, 2]])

    @rule(topic=st.sampled_from(TOPICS))
    def delete_or_create(self, topic: str) -> None:
        cluster = self.driver.cluster
        if topic in cluster.topics:
            cluster.delete_topics([cluster.topics[topic]])
        else:
            cluster.create_topic(topic, [[1, 2], [2, 3]])


TestMembers = Members.TestCase
TestMembers.settings = settings(max_examples=100, stateful_step_count=30, deadline=None)


def test_a_silent_member_is_fenced() -> None:
    driver = GroupDriver(**AT_ONCE)
    first, second = Client(driver, "a", ["orders"]), Client(driver, "b", ["orders"])
    first.beat()
    second.beat()
    for _ in range(10):
        driver.advance(SESSION_MS // 9)
        second.beat()
    assert list(group_of(driver).members) == ["b"]
    assert len(read_by({"b": second})) == 3
    assert first.beat().error_code is E.UNKNOWN_MEMBER_ID


def test_a_member_that_gives_nothing_up_is_fenced() -> None:
    driver = GroupDriver(**AT_ONCE)
    first, second = Client(driver, "a", ["orders"]), Client(driver, "b", ["orders"])
    first.beat(rebalance_timeout_ms=5_000)
    second.beat()
    first.beat()
    for _ in range(3):
        driver.advance(1_000)
        driver.ask(ConsumerGroupHeartbeatRequest("g", "a", first.epoch))
    assert "a" in group_of(driver).members
    driver.advance(3_000)
    assert "a" not in group_of(driver).members


@pytest.mark.parametrize("kafka", ["4.0", "4.3", "4.4"])
def test_another_coordinator_goes_on_with_the_same_group(kafka: str) -> None:
    config: dict[str, Any] = AT_ONCE if kafka != "4.0" else {}
    driver = GroupDriver(kafka, brokers=3, **config)
    clients = {name: Client(driver, name, TOPICS) for name in "abc"}
    for each in clients.values():
        each.beat()
    clients["a"].beat()
    before = group_of(driver)
    driver.move_coordinator()
    after = group_of(driver)
    assert after is not before
    assert (after.epoch, after.assignment_epoch) == (before.epoch, before.assignment_epoch)
    assert after.members == before.members
    assert after.target == before.target
    assert after.state is before.state


def test_a_deleted_group_leaves_nothing_in_the_log() -> None:
    driver = GroupDriver(brokers=3, **AT_ONCE)
    client = Client(driver, "a", TOPICS)
    client.beat()
    client.leave()
    assert driver.delete() == E.NONE
    driver.move_coordinator()
    assert "g" not in driver.groups.groups


@pytest.mark.parametrize(("kafka", "epoch"), [("4.0", 1), ("4.2", 1), ("4.3", 2), ("4.4", 2)])
def test_the_first_epoch_by_release(kafka: str, epoch: int) -> None:
    """As real brokers of 4.0.1, 4.2.0 and 4.4.0 answered."""
    client = Client(GroupDriver(kafka), "a", ["orders"])
    client.beat()
    assert client.epoch == epoch
    assert len(read_by({"a": client})) == 3


@pytest.mark.parametrize(("answer", "epoch"), [("one", 1), ("two", 2)])
def test_the_first_epoch_by_policy(answer: str, epoch: int) -> None:
    client = Client(GroupDriver(policies={"first-group-epoch": answer}), "a", ["orders"])
    client.beat()
    assert client.epoch == epoch


@pytest.mark.parametrize(("answer", "behind"), [("behind", 1), ("its-own", 0)])
def test_the_assignment_epoch_of_an_emptied_group(answer: str, behind: int) -> None:
    driver = GroupDriver(policies={"emptied-group-epoch": answer}, **AT_ONCE)
    client = Client(driver, "a", TOPICS)
    client.beat()
    client.leave()
    (group,) = driver.ask(ConsumerGroupDescribeRequest(["g"])).groups
    assert group.group_state == "Empty"
    assert group.group_epoch - group.assignment_epoch == behind


@pytest.mark.parametrize(
    ("kafka", "error"), [("4.0", E.FENCED_MEMBER_EPOCH), ("4.2", E.NONE), ("4.4", E.NONE)]
)
def test_a_known_member_joins_again(kafka: str, error: ErrorCode) -> None:
    """As real brokers of 4.0.1, 4.2.0 and 4.4.0 answered."""
    client = Client(GroupDriver(kafka), "a", ["orders"])
    client.beat()
    client.beat(subscribed_topic_names=TOPICS)
    assert client.epoch > 1
    client.epoch, client.reads, client.topics = 0, {}, TOPICS
    assert client.beat().error_code == error


@pytest.mark.parametrize("kafka", ["3.9", "4.0", "4.4"])
def test_the_coordinator_makes_ids_for_members_of_version_0(kafka: str) -> None:
    """As those of Java 3.7 to 3.9 ask it to (KIP-1082)."""
    driver = GroupDriver(kafka, group_coordinator_rebalance_protocols="classic,consumer")
    clients = [Client(driver, "", TOPICS, version=0) for _ in range(100)]
    for each in clients:
        each.id = each.beat().member_id
    assert group_of(driver).members.keys() == {each.id for each in clients}
    assert len(group_of(driver).members) == len(clients)
    assert all(re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_-]{21}", each.id) for each in clients)
    assert clients[0].beat().error_code == E.NONE


@pytest.mark.parametrize(("kafka", "error"), [("3.9", E.INVALID_REQUEST), ("4.0", E.NONE)])
def test_a_member_joins_without_topics(kafka: str, error: ErrorCode) -> None:
    """As real brokers of 3.9.2 and 4.4.0 answered."""
    driver = GroupDriver(kafka, group_coordinator_rebalance_protocols="classic,consumer")
    client = Client(driver, "", [], version=0)
    assert client.beat().error_code == error


@pytest.mark.parametrize(("kafka", "error"), [("3.9", E.INVALID_REQUEST), ("4.0", E.UNKNOWN_MEMBER_ID)])
def test_a_static_member_without_id_leaves_for_a_while(kafka: str, error: ErrorCode) -> None:
    """As real brokers of 3.9.2 and 4.4.0 answered."""
    driver = GroupDriver(kafka, group_coordinator_rebalance_protocols="classic,consumer")
    Client(driver, "a", TOPICS, version=0).beat()
    client = Client(driver, "", TOPICS, version=0)
    client.epoch = -2
    assert client.beat(instance_id="another").error_code is error


@pytest.mark.parametrize(("kafka", "error"), [("4.2", E.STALE_MEMBER_EPOCH), ("4.3", E.NONE)])
def test_a_commit_with_an_epoch_that_is_over(kafka: str, error: ErrorCode) -> None:
    """For a partition that the member has had since then (`ConsumerGroup.createAssignmentEpochValidator`)."""
    config: dict[str, Any] = AT_ONCE if kafka == "4.3" else {}
    driver = GroupDriver(kafka, **config)
    client = Client(driver, "a", ["orders"])
    client.beat()
    earlier = client.epoch
    client.beat(subscribed_topic_names=TOPICS)
    assert client.epoch > earlier
    for topic, expected in (("orders", error), ("payments", E.STALE_MEMBER_EPOCH)):
        assert driver.commit({(topic, 0): 1}, Generation(earlier, "a")) == {(topic, 0): expected}


@pytest.mark.parametrize(
    ("policy", "grows"), [("next-epoch", [0, 0, 0]), ("every-heartbeat", [0, 1, 1]), ("at-change", [0, 0, 0])]
)
def test_two_assignors_with_as_many_members(policy: str, grows: list[int]) -> None:
    """With 4.4.0 each heartbeat of the member that asks for the other assignor begins an epoch."""
    driver = GroupDriver(policies={"assignor-change": policy}, **AT_ONCE)
    uniform, other = Client(driver, "a", ["orders"]), Client(driver, "b", ["orders"])
    uniform.beat(server_assignor="uniform")
    other.beat(server_assignor="range")
    for _ in range(4):
        uniform.beat()
    found = []
    for client in (uniform, other, other):
        before = group_of(driver).epoch
        client.beat()
        found.append(group_of(driver).epoch - before)
    assert found == grows


@pytest.mark.parametrize("waits_ms", [1, 9_000, 11_000])
def test_the_first_expression_of_a_group_is_looked_up_at_once(waits_ms: int) -> None:
    """Also if there was another a moment ago, of a member that has left (`maybeUpdateRegularExpressions`)."""
    driver = GroupDriver(**AT_ONCE)
    driver.cluster.create_topic("orders", [[1]])
    for number in (1, 2):
        member = Client(driver, f"m{number}", [])
        member.beat(subscribed_topic_regex="ord.*", topic_partitions=[])
        driver.advance(1)
        member.beat()
        assert member.reads == {driver.cluster.topics["orders"].id: frozenset({0})}
        member.leave()
        driver.advance(waits_ms)
