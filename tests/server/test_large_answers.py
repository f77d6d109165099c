"""Answers have a limit: what would be larger is given up, before it takes up all memory."""

import gc
import tracemalloc
from typing import Any

import pytest

from mockbroker.environment import Owner
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from mockbroker.rig.client import encode

from ..driving import wire
from ..driving.cluster import configured
from ..driving.connections import ConnectionDriver, answered

PARTITIONS = 200
METADATA = "m" * 4_000


def end(error: Exception, owner: Owner | None) -> None:
    """What a server does with an error in a part of a request."""
    assert owner is not None
    owner.ended_by(error)


class LargeDriver(ConnectionDriver):
    """A group has committed 200 offsets with 4 KB of metadata each."""

    def __init__(self, most_bytes: int = 104_857_600) -> None:
        config = {"mockbroker.max.response.bytes": most_bytes}
        super().__init__(configured("4.4", 1, None, config))
        self.cluster.work.in_parts = True
        self.cluster.environment.failed = end
        topic = self.cluster.create_topic("t", [[1]] * PARTITIONS)
        self.commit(topic.id)
        self.connection = self.connect()

    def commit(self, topic_id: Any) -> None:
        offsets = [OffsetCommitRequestPartition(i, i, -1, METADATA) for i in range(PARTITIONS)]
        topics = [OffsetCommitRequestTopic(topic_id, offsets, "t")]
        asked = self.ask(OffsetCommitRequest("g", topics=topics))
        while self.cluster.work:
            self.cluster.work.go_on()
        assert {each.error_code for each in asked.topics[0].partitions} == {0}

    def fetch(self, times: int, correlation_id: int) -> None:
        """OffsetFetch of everything in the group, named so often."""
        body = {"groups": [{"group_id": "g", "topics": None}] * times, "require_stable": True}
        frame = wire.request(ApiKey.OFFSET_FETCH, 8, b"\0" + encode("offset_fetch", 8, body), correlation_id)
        self.connection.receive(memoryview(frame).toreadonly())
        while self.cluster.work:
            self.cluster.work.go_on()


def test_a_group_that_is_named_often_is_answered_as_often(driver: LargeDriver) -> None:
    driver.fetch(3, 1)
    ((_, three),) = answered(driver.connection)
    driver.fetch(1, 2)
    ((_, one),) = answered(driver.connection)
    assert len(three) > 2.9 * len(one) > 2.9 * PARTITIONS * len(METADATA)


@pytest.mark.parametrize(
    ("most_bytes", "times", "why"),
    [
        (3_000_000, 5, "more than 3000000 bytes"),
        (3_000_000, 500, "more than 30000 entries, 100 bytes each"),
        (104_857_600, 500, "more than 104857600 bytes"),
    ],
)
def test_an_answer_that_would_be_too_large_ends_the_connection(most_bytes: int, times: int, why: str) -> None:
    driver = LargeDriver(most_bytes)
    gc.collect()
    tracemalloc.start()
    try:
        driver.fetch(times, 1)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert answered(driver.connection) == []
    assert driver.connection.wants_close
    (refusal,) = driver.heard.refusals
    assert refusal.startswith(f"OffsetFetch v8: the answer would have {why}. A name")
    assert "mockbroker.max.response.bytes" in refusal
    assert driver.heard.errors == []
    assert peak < 400_000_000
    driver.connection = driver.connect()
    driver.fetch(1, 2)
    assert len(answered(driver.connection)) == 1
