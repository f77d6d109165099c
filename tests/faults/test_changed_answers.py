"""What faults change in an answer: its bytes, its fields, how long the client has to wait."""

from __future__ import annotations

from typing import Any

import pytest

from tests.driving.faulty import FaultyDriver


def test_half_an_answer(driver: FaultyDriver) -> None:
    driver.send("heartbeat")
    whole = driver.sent()
    driver.faults.add("half-answer", api="Heartbeat", bytes=5, nth=2)
    driver.faults.add("half-answer", api="Heartbeat", nth=1)
    driver.send("heartbeat")
    assert driver.sent() == whole[: len(whole) // 2]
    assert driver.connection.wants_close
    driver.connection = driver.connect()
    driver.send("heartbeat")
    assert driver.sent() == whole[:5]


def test_slow_bytes(driver: FaultyDriver) -> None:
    driver.send("heartbeat")
    whole = driver.sent()
    driver.faults.add("slow-bytes", api="Heartbeat", bytes=3, ms=10)
    driver.send("heartbeat")
    parts = [driver.sent()]
    while (deadline := driver.cluster.next_deadline()) is not None and len(b"".join(parts)) < len(whole):
        driver.advance(deadline - driver.now_ms)
        parts.append(driver.sent())
    assert [len(each) for each in parts] == [3] * (len(whole) // 3) + [len(whole) % 3] * bool(len(whole) % 3)
    assert b"".join(parts) == whole


def test_wrong_correlation_id(driver: FaultyDriver) -> None:
    driver.faults.add("wrong-correlation-id", api="Heartbeat", by=100, times=1)
    driver.send("heartbeat", 7)
    driver.send("heartbeat", 8)
    assert driver.answers() == [107, 8]


@pytest.mark.parametrize(("cut", "correlation_id"), [(5, None), (8, 107)])
def test_an_answer_that_is_cut_and_has_a_wrong_correlation_id(
    driver: FaultyDriver, cut: int, correlation_id: int | None
) -> None:
    driver.faults.add("half-answer", api="Heartbeat", bytes=cut)
    driver.faults.add("wrong-correlation-id", api="Heartbeat", by=100)
    driver.send("heartbeat", 7)
    sent = driver.sent()
    assert len(sent) == cut
    assert correlation_id is None or int.from_bytes(sent[4:]) == correlation_id


def test_answers_out_of_order(driver: FaultyDriver) -> None:
    driver.faults.add("reorder", api="Heartbeat", times=1)
    driver.send("heartbeat", 7)
    assert driver.answers() == []
    driver.send("metadata", 8, topics=[])
    assert driver.answers() == [8, 7]


def test_a_lonely_answer_comes_at_last(driver: FaultyDriver) -> None:
    driver.faults.add("reorder", api="Heartbeat", ms=50)
    driver.send("heartbeat", 7)
    driver.advance(50)
    assert driver.answers() == [7]


def test_spoilt_records(driver: FaultyDriver) -> None:
    for _ in range(2):
        driver.produce()
    driver.sent()
    whole = driver.fetch()
    corrupt = driver.faults.add("corrupt-crc", api="Fetch", topic="t")
    spoilt = driver.fetch()
    assert [i for i in range(len(whole)) if whole[i] != spoilt[i]] == [17]
    driver.faults.remove(corrupt)
    driver.faults.add("truncated-batch", api="Fetch")
    assert driver.fetch() == whole[: len(whole) * 3 // 4]
    driver.faults.remove(driver.faults.rules[0])
    assert driver.fetch() == whole


def test_a_client_over_its_quota_is_answered_and_not_served_for_a_while(driver: FaultyDriver) -> None:
    driver.faults.add("quota", ms=250, api="Metadata")
    assert driver.call("metadata", topics=None)["throttle_time"] == 250
    driver.send("heartbeat", 8)
    driver.advance(249)
    assert driver.answers() == []
    driver.advance(1)
    driver.connection.resume()
    assert driver.answers() == [8]


def test_a_fetch_over_its_quota_has_no_records_and_begins_no_session(driver: FaultyDriver) -> None:
    driver.produce()
    driver.sent()
    driver.faults.add("quota", ms=250, api="Fetch", times=1)
    topics = [
        {"topic": "t", "partitions": [{"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1_000}]}
    ]
    answer = driver.call("fetch", replica_id=-1, max_bytes=1_000, session_epoch=0, topics=topics)
    assert (answer["throttle_time"], answer["responses"], answer["session_id"]) == (250, [], 0)
    driver.advance(250)
    assert driver.fetch()


def test_before_2_0_the_answer_itself_is_late() -> None:
    driver = FaultyDriver(kafka="1.1")
    driver.faults.add("quota", ms=250, api="Heartbeat")
    driver.send("heartbeat", 7, version=1)
    driver.advance(249)
    assert driver.answers() == []
    driver.advance(1)
    driver.connection.resume()
    assert driver.answers() == [7]


def test_throttle_time(driver: FaultyDriver) -> None:
    driver.faults.add("throttle", ms=250, api="Metadata")
    assert driver.call("metadata", topics=[])["throttle_time"] == 250


def partitions(answer: dict[str, Any], field: str) -> list[Any]:
    return [each[field] for each in answer["topics"][0]["partitions"]]


def test_any_field(driver: FaultyDriver) -> None:
    driver.faults.add(
        "replace", api="Metadata", field="partitions.leader_id", value=99, topic="t", partition=1
    )
    driver.faults.add("replace", api="Metadata", field="cluster_id", value="another")
    answer = driver.call("metadata", topics=[{"name": "t"}])
    assert partitions(answer, "leader_id") == [1, 99]
    assert answer["cluster_id"] == "another"


def test_a_value_that_can_not_be_sent(driver: FaultyDriver) -> None:
    """The connection is closed, and the observer hears why; the broker goes on."""
    driver.faults.add("replace", api="Metadata", field="cluster_id", value=5, times=1)
    driver.send("metadata", topics=[])
    assert driver.connection.wants_close
    assert len(driver.heard.errors) == 1
    driver.connection = driver.connect()
    assert driver.call("metadata", topics=[])["cluster_id"] == driver.cluster.cluster_id


def test_old_metadata(driver: FaultyDriver) -> None:
    driver.faults.add("stale-metadata", topic="t")
    before = driver.call("metadata", topics=[{"name": "t"}])
    driver.faults.add("move-leader", api="Produce")
    driver.produce()
    driver.sent()
    assert driver.cluster.topics["t"].partitions[0].leader == 2
    assert driver.call("metadata", topics=[{"name": "t"}]) == before


def test_a_hidden_broker(driver: FaultyDriver) -> None:
    driver.faults.add("hide-broker", target=2)
    answer = driver.call("metadata", topics=[{"name": "t"}])
    assert [each["node_id"] for each in answer["brokers"]] == [1, 3]
    assert partitions(answer, "leader_id") == [1, 2]
