"""A follower outside the process, over TCP: KAFKA-7104 with the numbers of its report."""

from collections.abc import Iterator
from typing import Any

import pytest

from mockbroker import MockCluster
from mockbroker.rig.batches import batch, describe
from mockbroker.rig.client import Client
from mockbroker.rig.waiting import wait_for

from ..driving.clients import raw_client

FETCHED, LOG_START, FOLLOWERS_END = 116_617, 116_753, 116_619
LAG_MS, DELAY_MS = 30_000, 600_000


class FetcherDiedError(Exception):
    """As `OffsetOutOfRangeException` ends a fetcher thread."""


class Follower:
    """Does with an answer what a follower of Kafka's does, or bounds its log start as the report proposes."""

    def __init__(self, client: Client, bounded: bool) -> None:
        self.client = client
        self.bounded = bounded
        self.start = self.end = self.high_watermark = 0

    def asked(self) -> dict[str, Any]:
        one = {"partition": 0, "fetch_offset": self.end, "log_start_offset": self.start}
        return {
            "replica_id": 2,
            "max_wait": 0,
            "min_bytes": 0,
            "max_bytes": 1 << 20,
            "topics": [{"topic": "t", "partitions": [{**one, "partition_max_bytes": 1 << 20}]}],
        }

    def fetch(self) -> None:
        self.take(self.client.call("fetch", 11, self.asked()))

    def take(self, answer: dict[str, Any]) -> None:
        (one,) = answer["responses"][0]["partitions"]
        if one["error_code"] == "OFFSET_OUT_OF_RANGE":
            self.start = self.end = self.leaders_start()
            return
        for each in describe(one["records"]) or ():
            # The last may be cut off.
            self.end = max(self.end, each.get("last_offset", -1) + 1)
        self.high_watermark = min(one["high_watermark"], self.end)
        leaders_start = one["log_start_offset"]
        if self.bounded:
            leaders_start = min(leaders_start, self.end)
        if leaders_start > self.high_watermark:
            raise FetcherDiedError(
                f"cannot increment the log start offset to {leaders_start}, larger than the high watermark "
                f"{self.high_watermark}"
            )
        self.start = max(self.start, leaders_start)

    def leaders_start(self) -> int:
        one = {"partition_index": 0, "timestamp": -2}
        fields = {"replica_id": 2, "topics": [{"name": "t", "partitions": [one]}]}
        answer = self.client.call("list_offsets", 2, fields)
        found: int = answer["topics"][0]["partitions"][0]["offset"]
        return found


class Stage:
    """A leader of ours, the partition's only broker besides the follower's."""

    def __init__(self, cluster: MockCluster) -> None:
        self.cluster = cluster
        self.client = raw_client(cluster)
        self.other = raw_client(cluster)
        cluster.run(lambda core: core.create_topic("t", [[1, 2]], {"retention.ms": "-1"}))

    def produce(self, records: int) -> None:
        data = [{"index": 0, "records": batch(records)}]
        fields = {"acks": 1, "timeout": 1000, "topic_data": [{"name": "t", "partition_data": data}]}
        answer = self.client.call("produce", 8, fields)
        assert answer["responses"][0]["partition_responses"][0]["error_code"] == "NONE"

    def delete(self, offset: int) -> None:
        one = {"partition_index": 0, "offset": offset}
        fields = {"topics": [{"name": "t", "partitions": [one]}], "timeout": 0}
        answer = self.client.call("delete_records", 1, fields)
        assert answer["topics"][0]["partitions"][0]["error_code"] == "REQUEST_TIMED_OUT", (
            "not for the follower"
        )

    def pass_time(self, ms: int) -> None:
        self.cluster.run(lambda core: core.advance(core.now_ms + ms))

    def heard_of(self, offset: int) -> bool:
        """Whether the leader has read for a fetch at this offset."""
        return self.cluster.run(
            lambda core: core.topics["t"].partitions[0].at_leader.followers[2].end_offset == offset
        )


@pytest.fixture
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    with MockCluster(brokers=2, policies={"fetch-log-start-offset": request.param}) as cluster:
        stage = Stage(cluster)
        with stage.client, stage.other:
            yield stage


def play(stage: Stage, *, bounded: bool) -> Follower:
    """Up to the answer that was read before records were deleted, and made afterwards."""
    follower = Follower(stage.other, bounded)
    follower.fetch()
    for records in [1000] * 116 + [617]:
        stage.produce(records)
    while follower.end < FETCHED:
        follower.fetch()
    assert follower.end == FETCHED
    stage.produce(2)
    stage.pass_time(2 * LAG_MS)
    leader, other = stage.cluster.replicas("t", 0)
    assert (leader.high_watermark, other.state, other.in_sync) == (FOLLOWERS_END, "external", False)
    stage.cluster.slow_follower("t", 0, 2, DELAY_MS)
    pending = stage.other.send("fetch", 11, follower.asked())
    wait_for("the leader's read", lambda: stage.heard_of(FETCHED))
    stage.produce(1000)
    stage.delete(LOG_START)
    stage.cluster.slow_follower("t", 0, 2, 0)
    stage.pass_time(DELAY_MS)
    follower.take(stage.other.receive(pending))
    return follower


@pytest.mark.parametrize("stage", ["live"], indirect=True)
def test_the_fetcher_dies(stage: Stage) -> None:
    with pytest.raises(
        FetcherDiedError, match=f"{LOG_START}, larger than the high watermark {FOLLOWERS_END}"
    ):
        play(stage, bounded=False)


@pytest.mark.parametrize(("stage", "bounded"), [("of-read", False), ("live", True)], indirect=["stage"])
def test_with_either_fix_it_goes_on(stage: Stage, bounded: bool) -> None:
    follower = play(stage, bounded=bounded)
    assert (follower.start, follower.end) == (FOLLOWERS_END if bounded else 0, FOLLOWERS_END)
    follower.fetch()
    assert (follower.start, follower.end) == (LOG_START, LOG_START)
    follower.fetch()
    follower.fetch()
    leader, other = stage.cluster.replicas("t", 0)
    assert follower.end == leader.log_end_offset
    assert follower.start == leader.log_start_offset
    assert other.in_sync
