"""What each fault does to the bytes, the time and the cluster behind them."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from mockbroker.cluster.follower import FollowerState
from mockbroker.conformance.batches import Record, batch
from mockbroker.conformance.client import decode, encode, error_name
from mockbroker.faults import Faults
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.server.connection import Connection
from tests.apis.asking import a_cluster, create
from tests.server.wire import request

VERSIONS = {"metadata": 8, "produce": 8, "fetch": 11, "heartbeat": 3, "end_txn": 1, "find_coordinator": 2}
"""Of each API the newest with a header of version 1."""


class Heard:
    """An observer that keeps what failed."""

    def __init__(self) -> None:
        self.errors: list[Exception] = []

    def identified(self, connection: Connection) -> None: ...
    def malformed(self, connection: Connection, reason: str) -> None: ...
    def policy_failed(self, error: Exception) -> None: ...
    def full(self, reason: str) -> None: ...
    def disconnected(self, connection: Connection) -> None: ...

    def failed(self, connection: Connection | None, error: Exception) -> None:
        self.errors.append(error)


class Bench:
    """A cluster with topic `t` of two partitions, its faults, and a connection to broker 1."""

    def __init__(self, brokers: int = 3) -> None:
        self.cluster = a_cluster(brokers=brokers)
        create(self.cluster, "t", 2, brokers)
        self.faults = Faults(self.cluster)
        self.heard = Heard()
        self.connection = self.connect()

    def connect(self) -> Connection:
        broker = self.cluster.brokers[1]
        return Connection(broker, "client", "/127.0.0.1", self.heard, lambda _: None, self.faults)

    def send(self, api: str, correlation_id: int = 7, **fields: Any) -> None:
        body = encode(api, VERSIONS[api], fields)
        frame = request(ApiKey[api.upper()], VERSIONS[api], body, correlation_id)
        self.connection.receive(memoryview(frame).toreadonly())

    def sent(self) -> bytes:
        """What is on the wire since the last time."""
        data = b"".join(bytes(each) for each in self.connection.out)
        self.connection.out.clear()
        self.connection.out_bytes = 0
        return data

    def answers(self) -> list[int]:
        """The correlation ids of the answers on the wire."""
        data, found = self.sent(), []
        while data:
            size, correlation_id = struct.unpack_from(">ii", data)
            found.append(correlation_id)
            data = data[4 + size :]
        return found

    def ask(self, api: str, **fields: Any) -> dict[str, Any]:
        self.send(api, **fields)
        return decode(api, VERSIONS[api], self.sent()[4:])

    def produce(self, partition: int = 0, **fields: Any) -> None:
        data = [{"index": partition, "records": batch([Record(timestamp=0)])}]
        self.send("produce", acks=1, topic_data=[{"name": "t", "partition_data": data}], **fields)

    def log_end_offset(self, partition: int = 0) -> int:
        return self.cluster.topics["t"].partitions[partition].log.end_offset

    def fetch(self) -> bytes:
        """The records of partition 0."""
        partition = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1 << 20}
        answer = self.ask(
            "fetch", replica_id=-1, max_bytes=1 << 20, topics=[{"topic": "t", "partitions": [partition]}]
        )
        (found,) = answer["responses"][0]["partitions"]
        return bytes(found["records"])


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.mark.parametrize(("when", "written"), [("before", 0), ("after", 1), ("instead", 0)])
@pytest.mark.parametrize("do", ["disconnect", "silence"])
def test_no_answer(bench: Bench, do: str, when: str, written: int) -> None:
    fault = bench.faults.add(do, api="Produce", topic="t", when=when)
    bench.produce()
    bench.send("heartbeat", 8)
    assert bench.answers() == []
    assert bench.connection.wants_close == (do == "disconnect")
    assert bench.log_end_offset() == written
    assert fault.hits == 1


@pytest.mark.parametrize(("when", "written"), [("before", 0), ("after", 1)])
def test_a_delay(bench: Bench, when: str, written: int) -> None:
    bench.faults.add("delay", api="Produce", ms=100, when=when)
    bench.produce()
    bench.send("heartbeat", 8)
    bench.cluster.advance(99)
    assert (bench.answers(), bench.log_end_offset()) == ([], written)
    bench.cluster.advance(100)
    bench.connection.resume()
    assert (bench.answers(), bench.log_end_offset()) == ([7, 8], 1)


def test_jitter_is_by_seed() -> None:
    def ends(seed: int) -> list[int]:
        bench = Bench(1)
        bench.faults.add("delay", api="Heartbeat", ms=10, jitter_ms=1000, seed=seed)
        found = []
        for _ in range(5):
            bench.send("heartbeat")
            deadline = bench.cluster.next_deadline()
            assert deadline is not None
            found.append(deadline - bench.cluster.now_ms)
            bench.cluster.advance(deadline)
        return found

    assert ends(1) == ends(1) != ends(2)
    assert all(10 <= each <= 1010 for each in ends(1))


def test_the_work_of_one_that_is_gone_is_done_all_the_same(bench: Bench) -> None:
    """As in Kafka: a request in the queue of a broker does not go with its connection."""
    bench.faults.add("delay", api="Produce", ms=100)
    bench.produce()
    bench.connection.wants_close = True
    bench.cluster.advance(100)
    assert bench.log_end_offset() == 1
    assert bench.answers() == []


def test_the_third_is_held_until_it_is_released(bench: Bench) -> None:
    fault = bench.faults.add("hold", api="Produce", nth=3)
    for i in range(4):
        bench.produce(correlation_id=i)
    assert bench.answers() == [0, 1]
    assert (fault.hits, fault.held, bench.log_end_offset()) == (1, 1, 2)
    fault.release()
    bench.connection.resume()
    assert bench.answers() == [2, 3]
    assert (fault.hits, fault.held) == (1, 0)


def test_any_fault_can_be_paused(bench: Bench) -> None:
    fault = bench.faults.add("error", error="NOT_COORDINATOR", api="Heartbeat")
    fault.pause()
    bench.send("heartbeat", group_id="g")
    assert (fault.held, bench.answers()) == (1, [])
    bench.faults.remove(fault)
    assert error_name(struct.unpack(">h", bench.sent()[-2:])[0]) == "NOT_COORDINATOR"
    bench.faults.remove(fault)


def test_position_and_chance() -> None:
    bench = Bench(1)
    second = bench.faults.add("throttle", ms=1, api="Heartbeat", nth=2, times=2)
    some = bench.faults.add("throttle", ms=1, api="Heartbeat", probability=0.5, seed=3)
    for _ in range(100):
        bench.send("heartbeat")
    assert second.hits == 2
    assert 30 < some.hits < 70


@pytest.mark.parametrize(
    ("given", "hits"),
    [
        ({"client_id": "te*"}, 1),
        ({"client_id": "other"}, 0),
        ({"version": 3}, 1),
        ({"version": [1, 2]}, 0),
        ({"broker": 1}, 1),
        ({"broker": 2}, 0),
        ({"group": "g"}, 1),
        ({"group": "h"}, 0),
        ({"topic": "t"}, 0),
        ({"partition": 0}, 0),
        ({"api": ["EndTxn", "heartbeat"]}, 1),
        ({"api": 12}, 1),
        ({"api": "end_txn"}, 0),
    ],
)
def test_which_requests(bench: Bench, given: dict[str, Any], hits: int) -> None:
    fault = bench.faults.add("throttle", ms=1, **given)
    bench.send("heartbeat", group_id="g")
    assert fault.hits == hits


@pytest.mark.parametrize(
    ("key_type", "given", "hits"),
    [
        (0, {"group": "k"}, 1),
        (1, {"group": "k"}, 0),
        (1, {"transactional_id": "k"}, 1),
        (0, {"transactional_id": "k"}, 0),
    ],
)
def test_whose_coordinator_is_looked_for(
    bench: Bench, key_type: int, given: dict[str, str], hits: int
) -> None:
    fault = bench.faults.add("throttle", ms=1, **given)
    bench.send("find_coordinator", key="k", key_type=key_type)
    assert fault.hits == hits


def test_half_an_answer(bench: Bench) -> None:
    bench.send("heartbeat")
    whole = bench.sent()
    bench.faults.add("half-answer", api="Heartbeat", bytes=5, nth=2)
    bench.faults.add("half-answer", api="Heartbeat", nth=1)
    bench.send("heartbeat")
    assert bench.sent() == whole[: len(whole) // 2]
    assert bench.connection.wants_close
    bench.connection = bench.connect()
    bench.send("heartbeat")
    assert bench.sent() == whole[:5]


def test_slow_bytes(bench: Bench) -> None:
    bench.send("heartbeat")
    whole = bench.sent()
    bench.faults.add("slow-bytes", api="Heartbeat", bytes=3, ms=10)
    bench.send("heartbeat")
    parts = [bench.sent()]
    while (deadline := bench.cluster.next_deadline()) is not None and len(b"".join(parts)) < len(whole):
        bench.cluster.advance(deadline)
        parts.append(bench.sent())
    assert [len(each) for each in parts] == [3] * (len(whole) // 3) + [len(whole) % 3] * bool(len(whole) % 3)
    assert b"".join(parts) == whole


def test_wrong_correlation_id(bench: Bench) -> None:
    bench.faults.add("wrong-correlation-id", api="Heartbeat", by=100, times=1)
    bench.send("heartbeat", 7)
    bench.send("heartbeat", 8)
    assert bench.answers() == [107, 8]


def test_answers_out_of_order(bench: Bench) -> None:
    bench.faults.add("reorder", api="Heartbeat", times=1)
    bench.send("heartbeat", 7)
    assert bench.answers() == []
    bench.send("metadata", 8, topics=[])
    assert bench.answers() == [8, 7]


def test_a_lonely_answer_comes_at_last(bench: Bench) -> None:
    bench.faults.add("reorder", api="Heartbeat", ms=50)
    bench.send("heartbeat", 7)
    bench.cluster.advance(50)
    assert bench.answers() == [7]


def test_spoilt_records(bench: Bench) -> None:
    for _ in range(2):
        bench.produce()
    bench.sent()
    whole = bench.fetch()
    corrupt = bench.faults.add("corrupt-crc", api="Fetch", topic="t")
    spoilt = bench.fetch()
    assert [i for i in range(len(whole)) if whole[i] != spoilt[i]] == [17]
    bench.faults.remove(corrupt)
    bench.faults.add("truncated-batch", api="Fetch")
    assert bench.fetch() == whole[: len(whole) * 3 // 4]
    bench.faults.remove(bench.faults.rules[0])
    assert bench.fetch() == whole


def test_throttle_time(bench: Bench) -> None:
    bench.faults.add("throttle", ms=250, api="Metadata")
    assert bench.ask("metadata", topics=[])["throttle_time"] == 250


def partitions(answer: dict[str, Any], field: str) -> list[Any]:
    return [each[field] for each in answer["topics"][0]["partitions"]]


def test_any_field(bench: Bench) -> None:
    bench.faults.add(
        "replace", api="Metadata", field="partitions.leader_id", value=99, topic="t", partition=1
    )
    bench.faults.add("replace", api="Metadata", field="cluster_id", value="another")
    answer = bench.ask("metadata", topics=[{"name": "t"}])
    assert partitions(answer, "leader_id") == [1, 99]
    assert answer["cluster_id"] == "another"


def test_a_value_that_can_not_be_sent(bench: Bench) -> None:
    """The connection is closed, and the observer hears why; the broker goes on."""
    bench.faults.add("replace", api="Metadata", field="cluster_id", value=5, times=1)
    bench.send("metadata", topics=[])
    assert bench.connection.wants_close
    assert len(bench.heard.errors) == 1
    bench.connection = bench.connect()
    assert bench.ask("metadata", topics=[])["cluster_id"] == bench.cluster.cluster_id


def test_old_metadata(bench: Bench) -> None:
    bench.faults.add("stale-metadata", topic="t")
    before = bench.ask("metadata", topics=[{"name": "t"}])
    bench.faults.add("move-leader", api="Produce")
    bench.produce()
    bench.sent()
    assert bench.cluster.topics["t"].partitions[0].leader == 2
    assert bench.ask("metadata", topics=[{"name": "t"}]) == before


def test_a_hidden_broker(bench: Bench) -> None:
    bench.faults.add("hide-broker", target=2)
    answer = bench.ask("metadata", topics=[{"name": "t"}])
    assert [each["node_id"] for each in answer["brokers"]] == [1, 3]
    assert partitions(answer, "leader_id") == [1, 2]


@pytest.mark.parametrize("do", ["stop-broker", "kill-broker"])
def test_a_broker_goes_and_comes_back(bench: Bench, do: str) -> None:
    bench.faults.add(do, api="Heartbeat", target=2)
    bench.faults.add("start-broker", api="FindCoordinator", target=2)
    bench.send("heartbeat")
    assert not bench.cluster.brokers[2].online
    bench.send("find_coordinator", key="g")
    bench.cluster.advance(100_000)
    assert bench.cluster.brokers[2].online


def test_a_coordinator_moves(bench: Bench) -> None:
    bench.send("find_coordinator", key="g")
    before = bench.cluster.offsets_partition("g").leader
    bench.faults.add("move-coordinator", api="Heartbeat")
    bench.send("heartbeat", group_id="g")
    after = bench.cluster.offsets_partition("g").leader
    assert after != before
    bench.faults.add("move-coordinator", api="FindCoordinator", target=before)
    bench.send("find_coordinator", key="g")
    assert bench.cluster.offsets_partition("g").leader == before


def test_followers_pause(bench: Bench) -> None:
    bench.faults.add("pause-follower", api="Produce", target=2, nth=1)
    bench.faults.add("resume-follower", api="Produce", target=2, nth=2)
    followers = bench.cluster.topics["t"].partitions[0].followers
    bench.produce()
    assert [followers[each].state for each in (2, 3)] == [FollowerState.PAUSED, FollowerState.IN_STEP]
    bench.produce()
    assert followers[2].state is not FollowerState.PAUSED


def test_a_handler_that_raises_after_a_delay(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends its own connection and nothing else."""
    from mockbroker.apis.registry import HANDLERS

    def raises(*_: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setitem(HANDLERS, ApiKey.HEARTBEAT, raises)
    bench.faults.add("delay", api="Heartbeat", ms=10)
    bench.send("heartbeat")
    bench.cluster.advance(10)
    assert bench.connection.wants_close
    assert [str(each.__cause__) for each in bench.heard.errors] == ["broken"]
