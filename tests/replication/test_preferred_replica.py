"""Consumers that are sent to a replica in their rack (KIP-392), as measured on 2.4.1 and 4.4.0."""

from typing import Any

import pytest

from mockbroker.configs import ConfigError
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.describe_cluster import DescribeClusterRequest
from mockbroker.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from mockbroker.protocol.messages.metadata import MetadataRequest
from mockbroker.replication.states import FollowerState

from ..driving.partition import LAG_MS, PartitionDriver, fetched, offsets

RACK_AWARE = {"replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector"}


def rack_aware(
    release: str = "4.4", policies: dict[str, str] | None = None, racks: dict[int, str] | None = None
) -> PartitionDriver:
    """Broker 1 leads; 2 and 3 are in the rack of the consumer. Three records are everywhere."""
    brokers = racks or {1: "a", 2: "b", 3: "b"}
    made = PartitionDriver(release, policies, config=RACK_AWARE, racks=brokers, retention_ms="-1")
    made.produce(3)
    made.advance(1000)
    return made


def sent_to(found: PartitionDriver, offset: int = 0, **asked: Any) -> int:
    return found.read(offset, rack="b", **asked).preferred_read_replica


def test_a_consumer_reads_from_its_rack() -> None:
    found = rack_aware()
    answer = found.read(0, rack="b")
    assert (answer.preferred_read_replica, offsets(answer)) == (3, [])
    assert (answer.error_code, answer.high_watermark, answer.log_start_offset) == (0, 3, 0)
    assert answer.aborted_transactions is None
    there = found.read(0, rack="b", broker=3)
    assert (there.preferred_read_replica, offsets(there)) == (-1, [0, 1, 2])


@pytest.mark.parametrize("rack", ["", "a", "c"])
def test_the_leader_serves_who_has_no_replica_nearer(rack: str) -> None:
    answer = rack_aware().read(0, rack=rack)
    assert (answer.preferred_read_replica, offsets(answer)) == (-1, [0, 1, 2])


def test_the_leader_serves_without_a_selector() -> None:
    found = PartitionDriver(racks={2: "b"})
    found.produce()
    assert offsets(found.read(0, rack="b")) == [0]
    with pytest.raises(ConfigError, match="RackAwareReplicaSelector"):
        PartitionDriver(config={"replica.selector.class": "com.example.Nearest"})


def test_it_is_sent_to_no_replica_without_its_offset() -> None:
    found = rack_aware()
    for broker in (2, 3):
        found.partition.set_follower(broker, FollowerState.PAUSED)
    found.produce(2, acks=1)
    assert (sent_to(found, 3), sent_to(found, 4)) == (3, -1)
    assert found.read(4, rack="b").error_code == 0


def test_the_leader_epoch_comes_first() -> None:
    assert rack_aware().read(0, rack="b", epoch=7).error_code == ErrorCode.UNKNOWN_LEADER_EPOCH


@pytest.mark.parametrize(
    ("release", "policies", "lagging", "down"),
    [
        ("2.4", {}, 3, -1),
        ("3.2", {}, 3, -1),
        ("3.3", {}, -1, -1),
        ("4.4", {}, -1, -1),
        ("4.4", {"preferred-replica": "fenced-too"}, 3, 3),
    ],
)
def test_one_that_lags_and_one_that_is_down(
    release: str, policies: dict[str, str], lagging: int, down: int
) -> None:
    found = rack_aware(release, policies, racks={3: "b"})
    found.partition.set_follower(3, FollowerState.PAUSED)
    found.produce(acks=1)
    found.advance(2 * LAG_MS)
    assert found.partition.isr == [1, 2]
    assert sent_to(found) == lagging
    found.partition.set_follower(3, FollowerState.BEHIND)
    assert sent_to(found) == 3
    found.stop_broker(3)
    assert sent_to(found) == down


@pytest.mark.parametrize(("release", "waits"), [("3.1", True), ("3.2", False)])
def test_when_it_is_told(release: str, waits: bool) -> None:
    found = rack_aware(release)
    asked = found.fetch(0, version=11, rack="b", wait_ms=500)
    if waits:
        assert asked.parked
        found.produce(5)
        found.advance(499)
        assert asked.parked
        found.advance(1)
    assert fetched(asked).preferred_read_replica == 3


def test_racks_are_told() -> None:
    found = rack_aware()
    told = found.ask(MetadataRequest([]), 12)
    assert {b.node_id: b.rack for b in told.brokers} == {1: "a", 2: "b", 3: "b"}
    told = found.ask(DescribeClusterRequest(), 1)
    assert {b.broker_id: b.rack for b in told.brokers} == {1: "a", 2: "b", 3: "b"}
    resource = DescribeConfigsResource(4, "2", ["broker.rack"])
    told = found.ask(DescribeConfigsRequest([resource]), 4, broker=2)
    (rack,) = told.results[0].configs
    assert (rack.value, rack.read_only) == ("b", True)
