"""Two replicas through five leader epochs, as real brokers from 0.11.0.3 to 4.4.0 answered.

`measured_replicas.json` has, for each of ten releases, who led in which leader epoch, the leader-epoch caches
of both replicas and the answers of DeleteRecords and OffsetForLeaderEpoch in seven states of the log, and
answers to Fetch and to further questions about epochs in some of them: all that was asked.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from mockbroker.apis.advertised import advertised
from mockbroker.controller import elections, reassignments
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.errors import error_name
from mockbroker.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from mockbroker.protocol.releases import parse
from mockbroker.rig.batches import records

from ..driving.partition import PartitionDriver, deleted, epoch_cache, outcome

RECORD_BYTES = 10
MEASURED = json.loads(Path(__file__).with_name("measured_replicas.json").read_text())


class Story(PartitionDriver):
    """The steps the real brokers went through, done to our cluster."""

    def __init__(self, kafka: str) -> None:
        super().__init__(kafka, brokers=2, topic="ep")

    def write(self, count: int) -> int:
        """The base offset."""
        error, base_offset = outcome(self.produce(records(count, size=RECORD_BYTES), version=3))
        assert error == 0
        return base_offset

    def move(self) -> None:
        """By reassignment and preferred election where there are such APIs, by a restart elsewhere."""
        old = self.partition.leader
        if ApiKey.ALTER_PARTITION_REASSIGNMENTS in advertised(self.cluster.release):
            reassignments.begin(self.partition, [self.follower, old])
            elections.elect_preferred(self.partition)
        else:
            self.stop_broker(old)
            self.start_broker(old)

    @property
    def follower(self) -> int:
        return 3 - self.partition.leader

    def deletion(self, offset: int) -> list[Any]:
        """The error and the low watermark."""
        error, low_watermark = deleted(self.delete_records(offset, version=0))
        return [error_name(error), low_watermark]

    def reach(self, state: str) -> list[Any] | None:
        """Goes on to the next state of the log; what DeleteRecords answered if that leads to it."""
        match state:
            case "full log":
                self.make_history()
            case "empty log, after a leader move, nothing written":
                self.move()
            case "then 4 records":
                self.write(4)
            case _:
                offset = state.rsplit(" ", 1)[1]
                return self.deletion(-1 if offset == "LEO" else int(offset))
        return None

    def make_history(self) -> list[list[Any]]:
        """Leader epoch, leader and base offset of what it wrote, for five leaderships; one wrote nothing."""
        history: list[list[Any]] = []
        for count in (10, 10, 0, 10, 5):
            if history:
                self.move()
            base_offset = self.write(count) if count else None
            history.append([self.partition.leader_epoch, self.partition.leader, base_offset])
        return history

    def ask_epoch(
        self, version: int, asked: OffsetForLeaderTopic, broker: int, replica: int = -1
    ) -> list[Any]:
        """Error, leader epoch (None where the version has none) and end offset."""
        request = OffsetForLeaderEpochRequest(replica_id=replica, topics=[asked])
        only = self.ask(request, version, broker=broker).topics[0].partitions[0]
        return [only.error_code, only.leader_epoch if version else None, only.end_offset]


@pytest.mark.parametrize("release", MEASURED)
def test_epochs_and_where_they_end(release: str) -> None:
    story = Story(release)
    for state in MEASURED[release]["states"]:
        assert story.reach(state["after"]) == state.get("low_watermark"), state["after"]
        log = story.partition.log
        assert (log.start_offset, log.end_offset) == (state["start"], state["end"]), state["after"]
        assert list(map(list, epoch_cache(log))) == state["leader_cache"], state["after"]
        follower = story.partition.logs[story.follower]
        assert list(map(list, epoch_cache(follower))) == state["follower_cache"], state["after"]
        version = state["version"]
        found = {}
        for epoch in state["answers"]:
            asked = OffsetForLeaderTopic("ep", [OffsetForLeaderPartition(0, -1, int(epoch))])
            found[epoch] = story.ask_epoch(version, asked, story.partition.leader)
        assert found == state["answers"], state["after"]


@pytest.mark.parametrize("release", MEASURED)
def test_leaderships(release: str) -> None:
    """Metadata told no leader epochs before 2.1."""
    found = Story(release).make_history()
    told = [epoch for epoch, _, _ in MEASURED[release]["history"]]
    if None in told:
        assert told == [None] * len(found)
        found = [[None, *rest] for _, *rest in found]
    assert found == MEASURED[release]["history"]


@pytest.mark.parametrize("release", MEASURED)
def test_who_may_ask_for_an_epoch(release: str) -> None:
    story = Story(release)
    story.make_history()
    version = min(3, advertised(parse(release))[ApiKey.OFFSET_FOR_LEADER_EPOCH][1])
    partition = story.partition
    for each in MEASURED[release]["epochs_asked"]:
        relative = each.get("current_epoch")
        current = -1 if relative is None else partition.leader_epoch + relative
        asked = OffsetForLeaderPartition(each.get("partition", 0), current, partition.leader_epoch)
        broker = partition.leader if each["broker"] == "leader" else story.follower
        topic = OffsetForLeaderTopic(each.get("topic", "ep"), [asked])
        error, *rest = story.ask_epoch(version, topic, broker, each.get("replica", -1))
        assert [error_name(error), *rest] == each["answer"], each


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
        broker = partition.leader if asked["broker"] == "leader" else story.follower
        if broker == story.follower and asked["answer"]["high_watermark"] == partition.log.end_offset:
            # This follower had fetched once more before it was asked.
            story.advance(500)
        only = story.read(
            asked["offset"],
            broker=broker,
            version=min(asked["version"], newest),
            epoch=epoch,
            last_epoch=asked.get("last_epoch", -1),
            max_bytes=1,
            min_bytes=0,
        )
        found = {
            "error": error_name(only.error_code),
            "high_watermark": only.high_watermark,
            "last_stable_offset": only.last_stable_offset,
            "log_start_offset": only.log_start_offset,
            "bytes": sum(map(len, only.records or ())),
        }
        if only.diverging_epoch.epoch != -1:
            found["diverging"] = [only.diverging_epoch.epoch, only.diverging_epoch.end_offset]
        assert found == asked["answer"], asked
