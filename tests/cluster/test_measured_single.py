"""One broker of each of ten releases from 0.11.0.3 to 4.4.0, asked the same things: our broker answers alike.

`measured_single.json` has every answer to Produce of idempotent batches, to Fetch and ListOffsets, what a
restart and a kill -9 leave of producers and leader epochs, and (for 3.9.2 and 4.4.0) what retention leaves.
What was asked about transactions besides is not in it, nor are the ids that InitProducerId gave: they are
drawn here as there, but a broker of any release may begin anywhere.
"""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from mockbroker.apis.advertised import advertised
from mockbroker.controller import elections, reassignments
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.rig.batches import batch, describe, records

from ..driving.cluster import NOW_MS, ClusterDriver, configured, dotted
from ..driving.in_memory import InMemoryClient
from ..driving.partition import epoch_cache

MEASURED: Final[dict[str, Any]] = json.loads(Path(__file__).with_name("measured_single.json").read_text())
HOUR_MS: Final = 3_600_000
RECORD_BYTES: Final = 10


class Story(ClusterDriver):
    """A cluster with one topic, whose partition is asked for in given versions."""

    def __init__(self, kafka: str, brokers: int = 1, **overrides: str) -> None:
        config = {"log.retention.check.interval.ms": 500, "log.initial.task.delay.ms": 500}
        super().__init__(configured(kafka, brokers, None, config))
        replicas = list(self.cluster.brokers)
        self.partition = self.cluster.create_topic("t", [replicas], dotted(overrides)).partitions[0]
        self.producers: dict[str, int] = {}

    def call(self, key: ApiKey, version: int, fields: dict[str, Any]) -> Any:
        """In the release's newest version if it lacks `version`."""
        low, high = advertised(self.cluster.release)[key]
        client = InMemoryClient(self.cluster, self.partition.leader)
        return client.call(key.name.lower(), min(max(version, low), high), fields)

    def producer_id(self, name: str) -> int:
        if name not in self.producers:
            fields = {"transactional_id": None, "transaction_timeout": 60_000}
            answer = self.call(ApiKey.INIT_PRODUCER_ID, 1, fields)
            assert (answer["error_code"], answer["producer_epoch"]) == ("NONE", 0)
            self.producers[name] = answer["producer_id"]
        return self.producers[name]

    def produce(
        self,
        version: int,
        count: int,
        producer: str | None = None,
        epoch: int = 0,
        sequence: int = 0,
        timestamp: int = NOW_MS,
    ) -> list[Any]:
        """Error, base offset and log start offset, None where the version has none."""
        content = records(count, timestamp=timestamp, size=RECORD_BYTES)
        if producer is None:
            made = batch(content)
        else:
            producer_id = self.producer_id(producer)
            made = batch(content, producer_id=producer_id, producer_epoch=epoch, sequence=sequence)
        data = {"index": 0, "records": made}
        topics = [{"name": "t", "partition_data": [data]}]
        fields = {"transactional_id": None, "acks": -1, "timeout": 5000, "topic_data": topics}
        only = self.call(ApiKey.PRODUCE, version, fields)["responses"][0]["partition_responses"][0]
        return [only["error_code"], only["base_offset"], only.get("log_start_offset")]

    def fetch(self, version: int, asked: dict[str, Any]) -> dict[str, Any]:
        """`current_epoch` counts from the partition's leader epoch."""
        current = self.partition.leader_epoch + asked["current_epoch"] if "current_epoch" in asked else -1
        partition = {
            "partition": asked.get("partition", 0),
            "current_leader_epoch": current,
            "fetch_offset": asked["offset"],
            "last_fetched_epoch": asked.get("last_epoch", -1),
            "log_start_offset": -1,
            "partition_max_bytes": 1 << 20,
        }
        topics = [{"topic": asked.get("topic", "t"), "partitions": [partition]}]
        fields = {"replica_id": -1, "max_bytes": 1 << 22, "session_epoch": -1, "topics": topics}
        only = self.call(ApiKey.FETCH, asked.get("version", version), fields)["responses"][0]["partitions"][0]
        found = {
            "error": only["error_code"],
            "high_watermark": only["high_watermark"],
            "last_stable_offset": only["last_stable_offset"],
            "log_start_offset": only.get("log_start_offset"),
            "bytes": len(only["records"]),
            "aborted": only["aborted_transactions"],
            "batches": [[b["base_offset"], b["last_offset"]] for b in describe(only["records"]) or ()],
        }
        diverging = only.get("diverging_epoch", {"epoch": -1})
        if diverging["epoch"] != -1:
            found["diverging"] = [diverging["epoch"], diverging["end_offset"]]
        return found

    def offset(self, timestamp: int) -> list[Any]:
        """Error, timestamp, offset and leader epoch, None where the version has none."""
        partition = {"partition_index": 0, "current_leader_epoch": -1, "timestamp": timestamp}
        fields = {"replica_id": -1, "topics": [{"name": "t", "partitions": [partition]}]}
        only = self.call(ApiKey.LIST_OFFSETS, 4, fields)["topics"][0]["partitions"][0]
        return [only["error_code"], only["timestamp"], only["offset"], only.get("leader_epoch")]

    def epoch_end(self, epoch: int) -> list[Any]:
        asked = {"partition": 0, "current_leader_epoch": -1, "leader_epoch": epoch}
        fields = {"replica_id": -1, "topics": [{"topic": "t", "partitions": [asked]}]}
        only = self.call(ApiKey.OFFSET_FOR_LEADER_EPOCH, 3, fields)["topics"][0]["partitions"][0]
        return [only["error_code"], only["leader_epoch"], only["end_offset"]]

    def delete(self, offset: int) -> list[Any]:
        """Error and low watermark."""
        topics = [{"name": "t", "partitions": [{"partition_index": 0, "offset": offset}]}]
        answer = self.call(ApiKey.DELETE_RECORDS, 1, {"topics": topics, "timeout": 5000})
        only = answer["topics"][0]["partitions"][0]
        return [only["error_code"], only["low_watermark"]]

    def leader_epoch(self) -> int | None:
        """As Metadata tells it, None where its version has none."""
        answer = self.call(
            ApiKey.METADATA, 7, {"topics": [{"name": "t"}], "allow_auto_topic_creation": False}
        )
        found: int | None = answer["topics"][0]["partitions"][0].get("leader_epoch")
        return found


IDEMPOTENCE = [
    (release, version, group["answers"])
    for group in MEASURED["idempotence"]["answers"]
    for release, versions in group["versions"].items()
    for version in versions
]


@pytest.mark.parametrize(
    ("release", "version", "answers"), IDEMPOTENCE, ids=[f"{r}-v{v}" for r, v, _ in IDEMPOTENCE]
)
def test_idempotent_produce(release: str, version: int, answers: list[list[Any]]) -> None:
    story = Story(release)
    for (name, *step), expected in zip(MEASURED["idempotence"]["asked"], answers, strict=True):
        if step:
            producer, epoch, sequence, count = step
            answer = story.produce(version, count, producer, epoch, sequence)
        else:
            answer = story.delete(story.offset(-1)[2])
        assert answer == expected, name


RESTARTS = [
    (release, group["answers"]) for group in MEASURED["restart"]["answers"] for release in group["releases"]
]


@pytest.mark.parametrize(("release", "answers"), RESTARTS, ids=[release for release, _ in RESTARTS])
def test_restarts(release: str, answers: list[Any]) -> None:
    story = Story(release)
    story.produce(8, 3, "a")
    story.produce(8, 3, "b")
    found: list[Any] = [story.delete(6), story.leader_epoch()]
    story.stop_broker(1)
    story.start_broker(1)
    found.append(story.leader_epoch())
    found.append(story.produce(8, 3, "a", sequence=3))
    found.append(story.produce(8, 3, "b", sequence=0))
    found.append(story.produce(8, 3, "b", sequence=7))
    story.kill_broker(1)
    story.start_broker(1)
    found.append(story.leader_epoch())
    found.append(story.produce(8, 3, "b", sequence=3))
    asked = MEASURED["restart"]["asked"]
    assert dict(zip(asked, found, strict=True)) == dict(zip(asked, answers, strict=True))


FETCHES = [
    (release, version, group["asked"])
    for group in MEASURED["fetch"]
    for release, version in group["versions"].items()
]


@pytest.mark.parametrize(("release", "version", "asked"), FETCHES, ids=[release for release, *_ in FETCHES])
def test_fetch_and_list_offsets(release: str, version: int, asked: list[dict[str, Any]]) -> None:
    """A log of four batches of five records, deleted up to offset 8."""
    story = Story(release)
    for _ in range(4):
        story.produce(8, 5)
    story.delete(8)
    for each in asked:
        if "answer" in each:
            assert story.fetch(version, each) == each["answer"], each["asked"]
        else:
            found = {"earliest": story.offset(-2), "latest": story.offset(-1)}
            assert found == {name: each[name] for name in found}, each["asked"]


@pytest.mark.parametrize("release", MEASURED["retention"]["releases"])
def test_what_retention_leaves(release: str) -> None:
    """A batch that is too old in the active segment of a partition with two replicas."""
    measured = MEASURED["retention"]
    story = Story(release, brokers=2, retention_ms=str(HOUR_MS), segment_ms="60000")
    old = NOW_MS - 2 * HOUR_MS
    assert story.produce(8, 10, "a", timestamp=old) == measured["old batch"]
    while story.offset(-2)[2] == 0:
        assert story.cluster.next_deadline() is not None, "nothing is planned that could delete it"
        story.cluster.advance(story.cluster.next_deadline() or 0)
    assert story.offset(-2)[2] == measured["start"]
    assert {epoch: story.epoch_end(int(epoch)) for epoch in measured["epochs"]} == measured["epochs"]
    assert story.produce(8, 10, "a") == measured["duplicate"]
    assert story.produce(8, 1, "a", sequence=99) == measured["gap"]
    assert story.produce(8, 5, "a", sequence=10) == measured["next sequence"]
    assert list(map(list, epoch_cache(story.partition.log))) == measured["cache"]
    reassignments.begin(story.partition, [2, 1])
    elections.elect_preferred(story.partition)
    assert story.produce(8, 5) == measured["after a leader move"]
    assert list(map(list, epoch_cache(story.partition.log))) == measured["cache then"]
    assert story.leader_epoch() == measured["leader epoch then"]
    ends = measured["epochs then"]
    assert {epoch: story.epoch_end(int(epoch)) for epoch in ends} == ends
    assert story.fetch(12, {"offset": 9})["error"] == measured["fetch at 9"]
