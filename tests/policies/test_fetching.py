"""What Fetch shows under behaviours of replication, retention and fetch sessions."""

import pytest

from mockbroker.cluster import controller
from mockbroker.cluster.follower import FollowerState
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.fetch import EpochEndOffset
from mockbroker.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from mockbroker.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)

from .fetching import LAG_MS, Lab, offsets

EARLIEST, LATEST = -2, -1
OUT_OF_RANGE = ErrorCode.OFFSET_OUT_OF_RANGE


@pytest.mark.parametrize(
    ("policy", "error", "diverging"),
    [("offset-out-of-range", OUT_OF_RANGE, (-1, -1)), ("diverging-epoch", 0, (1, 10))],
)
def test_below_the_log_start_with_another_epoch(policy: str, error: int, diverging: tuple[int, int]) -> None:
    """Epochs 0, 1 and 3 wrote five records each, 2 none; the log starts at 7."""
    lab = Lab(policies={"fetch-below-log-start": policy})
    lab.produce(5)
    for leader, records in ((2, 5), (3, 0), (1, 5)):
        lab.partition.lead(leader)
        if records:
            lab.produce(records)
    lab.delete(7)
    found = lab.read(6, last_epoch=2)
    assert (found.error_code, found.diverging_epoch) == (error, EpochEndOffset(*diverging))
    assert found.log_start_offset == (-1 if error else 7)
    assert lab.read(6, last_epoch=1).error_code == OUT_OF_RANGE, "it does not diverge"
    assert lab.read(6, last_epoch=9).error_code == OUT_OF_RANGE, "it is not known"
    assert lab.read(8, last_epoch=2).diverging_epoch == EpochEndOffset(1, 10)


def epoch_end(lab: Lab, epoch: int) -> tuple[int, int]:
    topic = OffsetForLeaderTopic("t", [OffsetForLeaderPartition(0, -1, epoch)])
    answer, _ = lab.ask(ApiKey.OFFSET_FOR_LEADER_EPOCH, 3, OffsetForLeaderEpochRequest(-1, [topic]))
    found = answer.topics[0].partitions[0]
    return found.leader_epoch, found.end_offset


@pytest.mark.parametrize(
    ("release", "policies", "fresh", "written"),
    [
        ("0.11", {}, (-1, -1), (-1, -1)),
        ("0.11", {"epoch-not-given": "latest-epoch"}, (-1, 0), (-1, -1)),
        ("2.0", {"epoch-not-given": "latest-epoch"}, (-1, -1), (-1, -1)),
        ("4.4", {"epoch-not-given": "log-end-offset"}, (-1, 0), (-1, 3)),
    ],
)
def test_epoch_minus_one(
    release: str, policies: dict[str, str], fresh: tuple[int, int], written: tuple[int, int]
) -> None:
    lab = Lab(release, policies)
    assert epoch_end(lab, -1) == fresh
    assert epoch_end(lab, 0) == ((-1, -1) if release == "0.11" else (0, 0)), "as measured on 0.11.0.3"
    lab.produce(3)
    assert epoch_end(lab, -1) == written
    assert epoch_end(lab, 0) == (0, 3)


@pytest.mark.parametrize(
    ("policy", "read"), [("high-watermark", [0, 1, 2]), ("log-end-offset", [0, 1, 2, 3, 4])]
)
def test_how_far_a_consumer_reads(policy: str, read: list[int]) -> None:
    lab = Lab(policies={"consumer-read-limit": policy})
    lab.produce(3)
    lab.partition.set_follower(3, FollowerState.PAUSED)
    lab.produce(2, acks=1)
    found = lab.read(0)
    assert (offsets(found), found.high_watermark) == (read, 3)
    at_the_high_watermark = lab.read(3)
    assert (at_the_high_watermark.error_code, offsets(at_the_high_watermark)) == (0, [])


def list_offset(lab: Lab, timestamp: int) -> int:
    topic = ListOffsetsTopic("t", [ListOffsetsPartition(0, -1, timestamp)])
    answer, _ = lab.ask(ApiKey.LIST_OFFSETS, 5, ListOffsetsRequest(-1, 0, [topic]))
    found: int = answer.topics[0].partitions[0].offset
    return found


@pytest.mark.parametrize(("policy", "start"), [("high-watermark", 2), ("log-end-offset", 4)])
def test_how_far_retention_goes(policy: str, start: int) -> None:
    config = {"replica.lag.time.max.ms": str(2 * LAG_MS)}
    lab = Lab("0.11", {"retention-limit": policy}, config=config, segment_bytes="100")
    lab.produce()
    lab.produce()
    lab.partition.set_follower(3, FollowerState.PAUSED)
    lab.produce(acks=1)
    lab.produce(acks=1)
    lab.pass_time(LAG_MS)
    assert lab.partition.isr == [1, 2, 3], "nothing is deleted that a follower in sync has yet to copy"
    assert (list_offset(lab, EARLIEST), list_offset(lab, LATEST)) == (start, 2)
    assert lab.read(2).error_code == (OUT_OF_RANGE if start > 2 else 0)
    assert lab.read(start).log_start_offset == start
    lab.partition.set_follower(3, FollowerState.BEHIND)
    assert {log.end_offset for log in lab.partition.logs.values()} == {4}
    assert list_offset(lab, LATEST) == 4


@pytest.mark.parametrize(("release", "isr"), [("0.11", [1]), ("1.0", [1, 2]), ("4.4", [1, 2])])
def test_a_new_replica_begins_inside_a_batch(release: str, isr: list[int]) -> None:
    lab = Lab(release, replicas=[1])
    lab.produce(10)
    lab.produce(2)
    lab.delete(5)
    controller.reassign(lab.cluster, lab.partition, [1, 2])
    assert (lab.partition.replicas, lab.partition.isr) == ([1, 2], isr)
    lab.partition.set_follower(2, FollowerState.BEHIND)
    assert lab.partition.isr == isr, "it stays so, however often it tries"
    log = lab.partition.logs[2]
    assert (log.start_offset, log.end_offset) == (5, 12 if 2 in isr else 5)


def test_a_replica_that_was_away_begins_inside_a_batch() -> None:
    lab = Lab()
    lab.produce(2)
    lab.partition.set_follower(3, FollowerState.PAUSED)
    lab.produce(10, acks=1)
    lab.pass_time(2 * LAG_MS)
    lab.delete(7)
    lab.partition.set_follower(3, FollowerState.BEHIND)
    assert lab.partition.isr == [1, 2, 3]
    assert offsets(lab.read(7, broker=3)) == list(range(2, 12))


@pytest.mark.parametrize(
    ("release", "error"), [("2.4", ErrorCode.NONE), ("2.5", ErrorCode.FENCED_LEADER_EPOCH)]
)
def test_leader_epochs_in_a_fetch_session(release: str, error: ErrorCode) -> None:
    lab = Lab(release)
    opened = lab.fetch(0, version=11, epoch=0, session=(0, 0))
    lab.partition.lead(2)
    lab.partition.lead(1)
    lab.produce()
    again = lab.fetch(0, version=11, epoch=1, session=(opened.session_id, 1))
    assert [p.error_code for topic in again.responses for p in topic.partitions] == [error]
    anew = lab.read(0, version=11, epoch=1, session=(0, 0))
    assert anew.error_code == ErrorCode.FENCED_LEADER_EPOCH, "the first request is checked in any case"


@pytest.mark.parametrize(("release", "error"), [("2.4", ErrorCode.FETCH_SESSION_ID_NOT_FOUND), ("2.5", 0)])
def test_a_busy_fetch_session_stays(release: str, error: int) -> None:
    lab = Lab(release, config={"max.incremental.fetch.session.cache.slots": "1"})
    session = lab.fetch(0, version=11, session=(0, 0)).session_id
    for epoch in range(1, 4):
        lab.pass_time(60_000)
        assert lab.fetch(0, version=11, session=(session, epoch)).error_code == 0
    lab.fetch(0, version=11, session=(0, 0))
    assert lab.fetch(0, version=11, session=(session, 4)).error_code == error
