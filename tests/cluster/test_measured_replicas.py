"""Two replicas through five leader epochs, as real brokers from 0.11.0.3 to 4.4.0 answered.

`measured_replicas.json` has, for each of ten releases, the leader-epoch caches and the answers of
OffsetForLeaderEpoch in seven states of the log, and Fetch answers in two of them.
"""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from mockbroker.apis import HANDLERS
from mockbroker.apis.advertised import advertised
from mockbroker.cluster import controller
from mockbroker.cluster.call import Call, Client
from mockbroker.cluster.cluster import Cluster
from mockbroker.conformance.batches import batch
from mockbroker.log.log import Log
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.errors import error_name
from mockbroker.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from mockbroker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from mockbroker.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from mockbroker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from mockbroker.protocol.releases import parse

MEASURED = json.loads(Path(__file__).with_name("measured_replicas.json").read_text())


class Story:
    """The steps the real brokers went through, done to our cluster."""

    def __init__(self, kafka: str) -> None:
        self.cluster = Cluster(parse(kafka), Random(0), brokers=2, now_ms=1_700_000_000_000)
        self.partition = self.cluster.create_topic("ep", [[1, 2]]).partitions[0]

    def ask(self, key: ApiKey, version: int, request: Any, broker: int | None = None) -> Any:
        chosen = self.cluster.brokers[broker or self.partition.leader]
        return HANDLERS[key](Call(chosen, version, Client(), "test", lambda *_: None), request)

    def produce(self, records: int) -> None:
        data = TopicProduceData(name="ep", partition_data=[PartitionProduceData(0, batch(records))])
        answer = self.ask(ApiKey.PRODUCE, 3, ProduceRequest(None, -1, 1000, [data]))
        assert answer.responses[0].partition_responses[0].error_code == 0

    def move(self) -> None:
        """By reassignment and preferred election where there are such APIs, by a restart elsewhere."""
        old = self.partition.leader
        if ApiKey.ALTER_PARTITION_REASSIGNMENTS in advertised(self.cluster.release):
            controller.reassign(self.cluster, self.partition, [self.follower, old])
            controller.elect_preferred(self.cluster, self.partition)
        else:
            controller.stop_broker(self.cluster, old)
            controller.start_broker(self.cluster, old)

    @property
    def follower(self) -> int:
        return 3 - self.partition.leader

    def delete(self, offset: int) -> None:
        topic = DeleteRecordsTopic("ep", [DeleteRecordsPartition(0, offset)])
        self.ask(ApiKey.DELETE_RECORDS, 0, DeleteRecordsRequest(topics=[topic]))

    def reach(self, state: str) -> None:
        """Goes on to the next state of the log."""
        match state:
            case "full log":
                for records in (10, 10, 0, 10, 5):
                    if self.partition.log.end_offset or records == 0:
                        self.move()
                    if records:
                        self.produce(records)
            case "empty log, after a leader move, nothing written":
                self.move()
            case "then 4 records":
                self.produce(4)
            case _:
                offset = state.rsplit(" ", 1)[1]
                self.delete(-1 if offset == "LEO" else int(offset))


def cache(log: Log) -> list[list[int]]:
    return [list(pair) for pair in zip(log.epochs.epochs, log.epochs.starts, strict=True)]


@pytest.mark.parametrize("release", MEASURED)
def test_epochs_and_where_they_end(release: str) -> None:
    story = Story(release)
    for state in MEASURED[release]["states"]:
        story.reach(state["after"])
        log = story.partition.log
        assert (log.start_offset, log.end_offset) == (state["start"], state["end"]), state["after"]
        assert cache(log) == state["leader_cache"], state["after"]
        if "leader move" not in state["after"]:
            assert cache(story.partition.logs[story.follower]) == state["follower_cache"], state["after"]
        version = state["version"]
        found = {}
        for epoch in state["answers"]:
            asked = OffsetForLeaderTopic("ep", [OffsetForLeaderPartition(0, -1, int(epoch))])
            request = OffsetForLeaderEpochRequest(topics=[asked])
            only = only_partition(story.ask(ApiKey.OFFSET_FOR_LEADER_EPOCH, version, request))
            found[epoch] = [only.error_code, only.leader_epoch if version else None, only.end_offset]
        assert found == state["answers"], state["after"]


def only_partition(answer: Any) -> Any:
    return answer.topics[0].partitions[0]


@pytest.mark.parametrize("release", [release for release in MEASURED if MEASURED[release]["fetches"]])
def test_fetches_with_epochs(release: str) -> None:
    """A version that the release lacked was asked in its highest."""
    story = Story(release)
    newest = advertised(parse(release))[ApiKey.FETCH][1]
    state = ""
    for asked in MEASURED[release]["fetches"]:
        if asked["after"] != state:
            state = asked["after"]
            story.reach(state)
        partition = story.partition
        epoch = partition.leader_epoch + asked["current_epoch"] if "current_epoch" in asked else -1
        wanted = FetchPartition(0, epoch, asked["offset"], asked.get("last_epoch", -1), -1, 1)
        request = FetchRequest(topics=[FetchTopic(topic="ep", partitions=[wanted])])
        broker = partition.leader if asked["broker"] == "leader" else story.follower
        if broker == story.follower and asked["answer"]["high_watermark"] == partition.log.end_offset:
            # This follower had fetched once more before it was asked.
            story.cluster.advance(story.cluster.now_ms + 500)
        answer = story.ask(ApiKey.FETCH, min(asked["version"], newest), request, broker)
        only = answer.responses[0].partitions[0]
        found = {
            "error": error_name(only.error_code),
            "high_watermark": only.high_watermark,
            "last_stable_offset": only.last_stable_offset,
            "log_start_offset": only.log_start_offset,
            "records": bool(only.records),
        }
        if only.diverging_epoch.epoch != -1:
            found["diverging"] = [only.diverging_epoch.epoch, only.diverging_epoch.end_offset]
        assert found == asked["answer"], asked
