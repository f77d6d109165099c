"""Brokers that hear late what the controller wrote: what they do until then, and what they tell clients."""

import pytest

from mockbroker.controller import elections
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from mockbroker.replication import internal_append
from mockbroker.replication.states import FollowerState
from mockbroker.rig.batches import batch

from ..driving.groups import GroupDriver
from ..driving.partition import PartitionDriver, outcome

DELAY_MS = 1_000


def slow(broker: int, **config: str) -> PartitionDriver:
    """A leader with two followers, a record, and a broker that hears late from now on."""
    driver = PartitionDriver(config=config)
    driver.produce()
    driver.cluster.slow_metadata(broker, DELAY_MS)
    return driver


def move(driver: PartitionDriver, to: int) -> None:
    assert elections.move_leader(driver.partition, to)


def test_a_new_leader_leads_when_it_has_heard_of_it() -> None:
    driver = slow(2)
    move(driver, 2)
    assert [driver.leader_told_by(each) for each in (1, 2, 3)] == [(2, 1), (1, 0), (2, 1)]
    for broker in (1, 2):
        assert outcome(driver.produce(broker=broker))[0] == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert driver.read(0, broker=2, epoch=1).error_code == ErrorCode.UNKNOWN_LEADER_EPOCH
    driver.advance(DELAY_MS - 1)
    assert outcome(driver.produce(broker=2))[0] == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert driver.state_of(3) is FollowerState.CUT_OFF
    driver.advance(1)
    assert driver.leader_told_by(2) == (2, 1)
    assert outcome(driver.produce(broker=2)) == (0, 1)
    assert driver.epoch_end(0, broker=2) == (0, 1)
    assert driver.ends() == {1: 2, 2: 2, 3: 2}


def test_an_old_leader_leads_on_until_it_has_heard_of_another() -> None:
    driver = slow(1)
    move(driver, 2)
    assert driver.leader_told_by(1) == (1, 0)
    assert outcome(driver.produce(acks=1, broker=1)) == (0, 1)
    waits = driver.produce(broker=1)
    assert waits.parked
    assert outcome(driver.produce(3, acks=1, broker=2)) == (0, 1)
    driver.advance(DELAY_MS)
    assert outcome(waits)[0] == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert driver.leader_told_by(1) == (2, 1)
    first, second, _ = driver.partition.logs.values()
    assert list(map(bytes, first)) == list(map(bytes, second)), "what it took meanwhile is gone"


def test_a_follower_follows_the_new_leader_when_it_has_heard_of_it() -> None:
    driver = slow(3)
    move(driver, 2)
    waits = driver.produce(broker=2)
    assert waits.parked, "it is in sync, and does not fetch"
    assert driver.ends() == {1: 2, 2: 2, 3: 1}
    driver.advance(DELAY_MS)
    assert outcome(waits) == (0, 1)
    assert driver.ends() == {1: 2, 2: 2, 3: 2}


def test_a_broker_hears_of_one_change_after_the_other() -> None:
    driver = slow(2)
    move(driver, 2)
    driver.advance(DELAY_MS // 2)
    move(driver, 3)
    assert driver.leader_told_by(2) == (1, 0)
    driver.advance(DELAY_MS // 2)
    assert driver.leader_told_by(2) == (2, 1)
    assert outcome(driver.produce(acks=1, broker=2)) == (0, 1), "it leads, though another does since"
    assert driver.leader_told_by(1) == (3, 2)
    driver.advance(DELAY_MS // 2)
    assert driver.leader_told_by(2) == (3, 2)
    assert outcome(driver.produce(broker=3)) == (0, 1)
    assert driver.ends() == {1: 2, 2: 2, 3: 2}
    # Its own epoch is gone with what it wrote in it.
    assert driver.partition.logs[2].epochs.epochs == driver.partition.logs[3].epochs.epochs == [0, 2]


def test_a_new_topic_is_not_there_for_who_has_not_heard_of_it() -> None:
    driver = slow(1)
    driver.topic = driver.cluster.create_topic("new", [[1, 2, 3]])
    driver.partition = driver.topic.partitions[0]
    assert outcome(driver.produce(broker=1))[0] == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert driver.leader_told_by(2) == (1, 0)
    driver.advance(DELAY_MS)
    assert outcome(driver.produce(broker=1)) == (0, 0)


def test_a_topic_is_configured_once_its_leader_has_heard_of_it() -> None:
    driver = slow(1)
    driver.topic.configure({"max.message.bytes": "1"})
    assert outcome(driver.produce()) == (0, 1)
    assert [shown(driver, broker) for broker in (1, 2)] == ["1048588", "1"]
    driver.advance(DELAY_MS)
    assert outcome(driver.produce())[0] == ErrorCode.MESSAGE_TOO_LARGE
    assert shown(driver, 1) == "1"


def test_a_broker_that_starts_has_read_the_configuration() -> None:
    driver = slow(1)
    driver.stop_broker(1)
    driver.topic.configure({"max.message.bytes": "1"})
    driver.start_broker(1)
    move(driver, 1)
    driver.advance(DELAY_MS)
    assert outcome(driver.produce())[0] == ErrorCode.MESSAGE_TOO_LARGE


def shown(driver: PartitionDriver, broker: int) -> str | None:
    """`max.message.bytes` as a broker describes it."""
    asked = DescribeConfigsRequest([DescribeConfigsResource(2, "t", ["max.message.bytes"])])
    [result] = driver.ask(asked, broker=broker).results
    [config] = result.configs
    value: str | None = config.value
    return value


def test_a_broker_that_is_no_longer_slow_has_heard_everything() -> None:
    driver = slow(2)
    move(driver, 2)
    driver.cluster.slow_metadata(2, 0)
    assert outcome(driver.produce(broker=2)) == (0, 1)
    move(driver, 1)
    assert driver.leader_told_by(2) == (1, 2)
    assert not driver.cluster.controller.metadata.behind


@pytest.mark.parametrize("ends", ["stop_broker", "kill_broker"])
def test_a_broker_that_starts_has_read_everything(ends: str) -> None:
    driver = slow(2)
    getattr(driver, ends)(2)
    driver.advance(20_000)
    move(driver, 3)
    driver.start_broker(2)
    assert driver.leader_told_by(2) == driver.leader_told_by(1)
    move(driver, 1)
    assert driver.leader_told_by(2) != driver.leader_told_by(1), "it is as slow as before"
    driver.advance(DELAY_MS)
    assert driver.leader_told_by(2) == driver.leader_told_by(1)


def test_one_that_is_cut_off_hears_nothing_until_it_is_back() -> None:
    driver = slow(2)
    move(driver, 3)
    driver.cut_off(2)
    driver.advance(DELAY_MS)
    assert driver.leader_told_by(2) == (1, 0)
    driver.rejoin(2)
    assert driver.leader_told_by(2) == (3, 1)


def test_brokers_that_are_gone_are_listed_until_it_is_heard() -> None:
    driver = slow(2)
    driver.stop_broker(3)
    assert driver.brokers_told_by(1) == [1, 2]
    assert driver.brokers_told_by(2) == [1, 2, 3]
    driver.advance(DELAY_MS)
    assert driver.brokers_told_by(2) == [1, 2]


def test_nothing_is_planned_while_nothing_is_written() -> None:
    driver = slow(2)
    before = driver.cluster.next_deadline()
    driver.advance(DELAY_MS * 10)
    assert driver.cluster.next_deadline() == before


def test_a_group_has_no_coordinator_that_has_not_heard_of_it() -> None:
    driver = slow(2)
    moved = driver.cluster.offsets_partition("g")
    assert elections.move_leader(moved, 1 if moved.leader != 1 else 3)
    coordinator = driver.cluster.coordinator("g")
    assert coordinator is not None
    assert elections.move_leader(moved, 2)
    assert driver.cluster.coordinator("g") is None
    assert coordinator.groups.refuses("g") == ErrorCode.NOT_COORDINATOR
    assert driver.cluster.brokers[2].groups.refuses("g") == ErrorCode.NOT_COORDINATOR
    driver.advance(DELAY_MS)
    assert driver.cluster.coordinator("g") is driver.cluster.brokers[2]
    assert driver.cluster.brokers[2].groups.refuses("g") == ErrorCode.NONE


def test_who_leads_an_epoch_that_is_over_commits_nothing() -> None:
    driver = GroupDriver(brokers=3, offsets_topic_replication_factor=3)
    moved = driver.cluster.offsets_partition("g")
    if moved.leader != 1:
        assert elections.move_leader(moved, 1)
    driver.follow_coordinator()
    driver.commit({("orders", 0): 5})
    driver.cluster.slow_metadata(2, DELAY_MS)
    assert elections.move_leader(moved, 2)
    driver.advance(DELAY_MS // 2)
    assert elections.move_leader(moved, 3)
    driver.advance(DELAY_MS // 2)
    behind = moved.at(2)
    assert behind is not None
    assert behind.leader == 2, "it has heard of the first change only"
    driver.broker = driver.cluster.brokers[2]
    assert driver.offsets() == {("orders", 0): 5}, "it has loaded what it has"
    waits = driver.commit_later({("orders", 0): 6})
    driver.advance(DELAY_MS // 2)
    assert waits.response.topics[0].partitions[0].error_code == ErrorCode.NOT_COORDINATOR
    driver.follow_coordinator()
    assert driver.broker.id == 3
    assert driver.offsets() == {("orders", 0): 5}


def test_a_leader_knows_the_isr_that_it_has_changed_itself() -> None:
    """AlterPartition is answered, whatever the leader is yet to hear by metadata records."""
    driver = slow(1, **{"replica.lag.time.max.ms": "100"})
    driver.stop_broker(2)
    driver.stop_broker(3)
    driver.advance(DELAY_MS)
    driver.start_broker(3)
    assert driver.partition.isr == [1], "the leader takes broker 3 for gone still"
    driver.advance(DELAY_MS)
    assert sorted(driver.partition.isr) == [1, 3]
    move(driver, 3)
    driver.advance(DELAY_MS // 2)
    waits = driver.produce(broker=1)
    assert waits.parked, "broker 3 is in sync, and does not fetch from here"
    driver.advance(DELAY_MS // 2)
    assert outcome(waits)[0] == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_what_is_written_before_the_leader_has_heard_of_its_epoch_is_in_the_one_before() -> None:
    driver = slow(1)
    leader = driver.partition.at_leader
    driver.partition.bump_epoch()
    internal_append.append_own(leader, bytearray(batch(1)))
    assert driver.ends() == {1: 2, 2: 1, 3: 1}
    driver.advance(DELAY_MS)
    assert driver.ends() == {1: 2, 2: 2, 3: 2}
    assert [log.epochs.starts for log in driver.partition.logs.values()] == [[0, 2], [0], [0]]
