"""What share groups have in flight is told, and locks and sessions end when somebody wants it."""

from __future__ import annotations

import pytest

from mockbroker.contents.groups import groups
from mockbroker.contents.share_groups import in_flight
from mockbroker.contents.values import SharedRecords, SharePartitionDescription
from mockbroker.control.hints import found
from mockbroker.coordinators.share.group import ShareGroup
from mockbroker.errors import ConflictError, NotThereError
from mockbroker.faults import Faults
from mockbroker.protocol.messages.init_producer_id import InitProducerIdRequest
from mockbroker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from mockbroker.rig.batches import TRANSACTIONAL, Record, batch
from mockbroker.verbs.sharing import drop_share_sessions, expire_locks
from mockbroker.verbs.subjects import SHARE_GROUP

from ..driving.cluster import configured
from ..driving.groups import GroupDriver
from ..driving.share_reader import CONFIG, MEMBER, Reader

ACCEPT, RELEASE, REJECT = 1, 2, 3


@pytest.fixture
def reader() -> Reader:
    return Reader(configured("4.4", 3, None, {**CONFIG, "transaction.state.log.num.partitions": 1}))


def shown(reader: Reader) -> SharePartitionDescription:
    found = groups(reader.cluster)["g"]
    assert isinstance(found, ShareGroup)
    return in_flight(reader.cluster, found)["t", 0]


def states(reader: Reader) -> list[tuple[int, int, str, int]]:
    return [(each.first, each.last, each.state, each.deliveries) for each in shown(reader).in_flight]


def test_what_is_in_flight(reader: Reader) -> None:
    assert shown(reader) == SharePartitionDescription(None, 0, ())
    reader.write(10)
    assert reader.fetch(0) == [(0, 9, 1)]
    until_ms = reader.cluster.now_ms + 30_000
    [acquired] = shown(reader).in_flight
    assert acquired.locked_until_ms is not None
    assert until_ms - 10 <= acquired.locked_until_ms <= until_ms
    assert acquired == SharedRecords(0, 9, "acquired", 1, MEMBER, acquired.locked_until_ms)
    reader.acknowledge(0, 1, ACCEPT)
    reader.acknowledge(3, 3, ACCEPT)
    reader.acknowledge(4, 4, RELEASE)
    reader.acknowledge(5, 5, REJECT)
    reader.write(1)
    assert (shown(reader).start_offset, shown(reader).high_watermark) == (2, 11)
    assert states(reader) == [
        (2, 2, "acquired", 1),
        (3, 3, "acknowledged", 1),
        (4, 4, "available", 1),
        (5, 5, "archived", 1),
        (6, 6, "acquired", 1),
        (7, 7, "acquired", 1),
        (8, 8, "acquired", 1),
        (9, 9, "acquired", 1),
    ]


def test_what_the_share_coordinator_knows_while_nobody_reads(reader: Reader) -> None:
    reader.write(4)
    reader.fetch(0)
    reader.acknowledge(0, 0, ACCEPT)
    reader.acknowledge(2, 2, RELEASE)
    reader.cluster.processes.stop(reader.leader("t"))
    reader.cluster.advance(reader.cluster.now_ms + 40_000)
    assert shown(reader).start_offset == 1
    assert (2, 2, "available", 1) in states(reader)


def test_locks_end(reader: Reader) -> None:
    group = SHARE_GROUP.find(reader.cluster, "g")
    with pytest.raises(ConflictError, match="no member of the share group 'g' has acquired a record"):
        expire_locks(reader.cluster, group)
    reader.write(3)
    assert reader.fetch(0) == [(0, 2, 1)]
    reader.acknowledge(1, 1, ACCEPT)
    expire_locks(reader.cluster, group)
    reader.cluster.advance(reader.cluster.now_ms + 2)
    assert states(reader) == [(0, 0, "available", 1), (1, 1, "acknowledged", 1), (2, 2, "available", 1)]
    with pytest.raises(ConflictError):
        expire_locks(reader.cluster, group)
    assert reader.fetch() == [(0, 0, 2), (2, 2, 2)]
    reader.cluster.advance(reader.cluster.now_ms + 30_000)
    assert {each[2:] for each in states(reader) if each[0] != 1} == {("available", 2)}


def test_after_too_many_deliveries_a_record_is_archived(reader: Reader) -> None:
    group = SHARE_GROUP.find(reader.cluster, "g")
    reader.write(1)
    for deliveries in range(1, 6):
        assert reader.fetch(0) == [(0, 0, deliveries)]
        expire_locks(reader.cluster, group)
        reader.cluster.advance(reader.cluster.now_ms + 2)
    assert (shown(reader).start_offset, states(reader)) == (1, [])


def test_a_session_is_dropped(reader: Reader) -> None:
    broker = reader.cluster.brokers[reader.leader("t")]
    with pytest.raises(ConflictError, match=f"broker {broker.id} has no share sessions"):
        drop_share_sessions(reader.cluster, broker)
    reader.write(2)
    assert reader.fetch(0) == [(0, 1, 1)]
    drop_share_sessions(reader.cluster, broker)
    reader.cluster.advance(reader.cluster.now_ms + 2)
    assert {each[2] for each in states(reader)} == {"available"}
    assert reader.error() == "SHARE_SESSION_NOT_FOUND"
    assert reader.fetch(0) == [(0, 1, 2)]


def test_hints_say_why_a_member_waits(reader: Reader) -> None:
    cluster, faults = reader.cluster, Faults(reader.cluster)
    reader.write(2)
    reader.fetch(0)
    assert not list(found(cluster, faults, manual_clock=False))
    reader.wait()
    [hint] = found(cluster, faults, manual_clock=False)
    assert hint.startswith(
        f"2 records of t-0 are acquired in the share group 'g' by member {MEMBER}: the first"
    )


def test_hints_tell_of_a_group_that_begins_at_the_end(reader: Reader) -> None:
    cluster = reader.cluster
    del cluster.configs.groups["g"]
    reader.write(5)
    reader.fetch(0)
    reader.wait()
    [hint] = found(cluster, Faults(cluster), manual_clock=False)
    assert hint == (
        "the share group 'g' began at the end of t-0, offset 5: what is there before is not delivered "
        "(share.auto.offset.reset=latest)"
    )


def test_hints_tell_of_a_group_that_may_not_have_more(reader: Reader) -> None:
    cluster = reader.cluster
    cluster.configs.groups["g"]["share.partition.max.record.locks"] = "100"
    reader.write(100)
    reader.write(5)
    assert reader.fetch(0) == [(0, 99, 1)]
    reader.wait()
    [hint] = found(cluster, Faults(cluster), manual_clock=False)
    assert "and no more are delivered (group.share.partition.max.record.locks=100)" in hint


def produced(reader: Reader, transactional_id: str) -> None:
    """A record of a transaction that is open."""
    reader.cluster.transaction_partition(transactional_id)
    given = reader.ask("__transaction_state", InitProducerIdRequest(transactional_id, 60_000))
    whose = {"producer_id": given.producer_id, "producer_epoch": given.producer_epoch, "sequence": 0}
    records = batch([Record()], attributes=TRANSACTIONAL, **whose)
    request = ProduceRequest(transactional_id, 1, 1_000)
    request.topic_data = [TopicProduceData(reader.topic_id, [PartitionProduceData(0, records)])]
    [answer] = reader.ask("t", request).responses
    assert answer.partition_responses[0].error_code == 0


def test_hints_tell_of_a_transaction_that_a_group_waits_for(reader: Reader) -> None:
    cluster = reader.cluster
    cluster.configs.groups["g"]["share.isolation.level"] = "read_committed"
    reader.write(2)
    reader.fetch(0)
    reader.acknowledge(0, 1, ACCEPT)
    produced(reader, "x")
    reader.wait()
    [hint] = found(cluster, Faults(cluster), manual_clock=False)
    assert hint == (
        "the share group 'g' reads committed records only, and gets none of t-0 from offset 2 on, because a "
        "transaction is open"
    )


def test_a_group_that_shares_nothing() -> None:
    bench = GroupDriver()
    bench.stable(None)
    with pytest.raises(NotThereError, match="no share group 'g'"):
        SHARE_GROUP.find(bench.cluster, "g")
