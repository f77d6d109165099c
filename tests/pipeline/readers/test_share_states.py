"""States of share groups, from segments and from what Kafka's tools print of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from mockbroker.pipeline.readers.registry import is_useless
from mockbroker.protocol.batch_writing import key_values
from mockbroker.protocol.primitives import short_uuid
from mockbroker.protocol.share_group_records import (
    ShareKey,
    ShareKind,
    SharePartitionsValue,
    write_share_key,
    write_share_value,
)
from mockbroker.protocol.share_state_log import (
    UNKNOWN,
    SharePartitionKey,
    Snapshot,
    StateBatch,
    Update,
    write_key,
    write_snapshot,
    write_update,
)

from .reading import of_kind, rows, source
from .segments import segment

ORDERS = UUID("08a1b5ce-d623-4982-981c-c3c9c2185bc1")
KEY = SharePartitionKey("jobs", ORDERS, 3)
WHERE: dict[str, Any] = {"group": "jobs", "topic": short_uuid(ORDERS), "partition": 3}
STATES = "__share_group_state-0"
DUMP = """\
Dumping __share_group_state-0/00000000000000000000.log
Log starting offset: 0
baseOffset: 0 lastOffset: 0 count: 1 baseSequence: 0 lastSequence: 0 producerId: -1 producerEpoch: -1 \
partitionLeaderEpoch: 0 isTransactional: false isControl: false deleteHorizonMs: OptionalLong.empty \
position: 0 CreateTime: 1795974384984 size: 141 magic: 2 compresscodec: none crc: 1380661627 isvalid: true
| offset: 0 CreateTime: 1795974384984 keySize: 32 valueSize: 40 sequence: 0 headerKeys: [] key: \
{"type":"0","data":{"groupId":"jobs","topicId":"CKG1ztYjSYKYHMPJwhhbwQ","partition":3}} payload: \
{"version":"0","data":{"snapshotEpoch":0,"stateEpoch":2,"leaderEpoch":0,"startOffset":-1,\
"createTimestamp":1795974384979,"writeTimestamp":1795974384979,"stateBatches":[]}}
baseOffset: 1 lastOffset: 1 count: 1 baseSequence: 0 lastSequence: 0 producerId: -1 producerEpoch: -1 \
partitionLeaderEpoch: 0 isTransactional: false isControl: false deleteHorizonMs: OptionalLong.empty \
position: 141 CreateTime: 1795974385599 size: 188 magic: 2 compresscodec: none crc: 375796308 isvalid: true
| offset: 1 CreateTime: 1795974385599 keySize: 32 valueSize: 86 sequence: 0 headerKeys: [] key: \
{"type":"1","data":{"groupId":"jobs","topicId":"CKG1ztYjSYKYHMPJwhhbwQ","partition":3}} payload: \
{"version":"0","data":{"snapshotEpoch":0,"leaderEpoch":0,"startOffset":0,"deliveryCompleteCount":99,\
"stateBatches":[{"firstOffset":0,"lastOffset":59,"deliveryState":2,"deliveryCount":1},\
{"firstOffset":60,"lastOffset":60,"deliveryState":0,"deliveryCount":1},\
{"firstOffset":61,"lastOffset":99,"deliveryState":4,"deliveryCount":2}]}}
| offset: 2 CreateTime: 1795974385600 keySize: 32 valueSize: -1 sequence: 0 headerKeys: [] key: \
{"type":"0","data":{"groupId":"jobs","topicId":"CKG1ztYjSYKYHMPJwhhbwQ","partition":3}} payload: <DELETE>
"""
"""What kafka-dump-log of 4.3.1 prints with --share-group-state-decoder."""
BATCHES = (StateBatch(0, 59, 2, 1), StateBatch(60, 60, 0, 1), StateBatch(61, 99, 4, 2))
TOLD = [
    {**WHERE, "time_ms": 1795974384984, "leader_epoch": 0, "generation": 2, "detail": "whole"},
    {
        **WHERE,
        "time_ms": 1795974385599,
        "leader_epoch": 0,
        "offset": 0,
        "end_offset": 100,
        "detail": "0-59 acknowledged 1, 60-60 available 1, 61-99 archived 2",
    },
    {**WHERE, "time_ms": 1795974385600, "detail": "deleted"},
]


def states(folder: Path, *records: tuple[bytes, bytes | None], at_ms: int = 1795974384984) -> Path:
    return segment(folder, bytes(key_values(list(records), at_ms)), STATES)


def test_the_states_of_a_segment(tmp_path: Path) -> None:
    whole, change = write_key(KEY, whole=True), write_key(KEY, whole=False)
    begun = write_snapshot(Snapshot(0, 2, 0, UNKNOWN, UNKNOWN, 0, 0, ()))
    changed = write_update(Update(0, 0, 0, 99, BATCHES))
    path = states(tmp_path, (whole, begun), (change, changed), (whole, None))
    assert source(path) == "segment"
    found = of_kind(rows(path), "share-state")
    assert found == [{**each, "time_ms": 1795974384984} for each in TOLD]


def test_a_dump_tells_the_same(tmp_path: Path) -> None:
    path = tmp_path / "states.txt"
    path.write_text(DUMP)
    assert source(path) == "dump-log"
    assert of_kind(rows(path), "share-state") == TOLD


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"\0\1" + bytes(40), "unknown version"),
        (bytes(6), "cut short"),
        (write_update(Update(0, 0, 0, 0, (StateBatch(0, 1, 9, 1),))), "9 is not a valid"),
    ],
)
def test_a_state_that_cannot_be_read(value: bytes, reason: str, tmp_path: Path) -> None:
    path = states(tmp_path, (write_key(KEY, whole=False), value))
    (bad,) = of_kind(rows(path), "unreadable")
    assert reason in bad["detail"]


def test_the_names_of_topics(tmp_path: Path) -> None:
    partitions = SharePartitionsValue({}, {ORDERS: [0]}, [], {ORDERS: "orders"})
    key = write_share_key(ShareKey(ShareKind.PARTITIONS, "jobs"))
    value = write_share_value(partitions, with_times=False)
    path = segment(tmp_path, bytes(key_values([(key, value), (key, None)], 1_000)), "__consumer_offsets-0")
    named = {"topic": "orders", "detail": short_uuid(ORDERS)}
    assert of_kind(rows(path), "topic-id") == [{**named, "time_ms": 1_000}]
    kept = tmp_path / "orders-0" / "partition.metadata"
    kept.parent.mkdir()
    kept.write_text(f"version: 0\ntopic_id: {short_uuid(ORDERS)}")
    assert source(kept) == "checkpoint"
    assert of_kind(rows(kept), "topic-id") == [named]
    kept.write_text("version: 0\n")
    assert source(kept) is None
    assert is_useless(kept)


def test_a_dump_names_topics(tmp_path: Path) -> None:
    path = tmp_path / "offsets.txt"
    path.write_text(
        "Dumping __consumer_offsets-0/00000000000000000000.log\n"
        "baseOffset: 0 lastOffset: 0 count: 1 CreateTime: 1000\n"
        '| offset: 0 CreateTime: 1000 keySize: 9 valueSize: 9 key: {"type":"15","data":{"groupId":"jobs"}} '
        'payload: {"version":"0","data":{"initializingTopics":[],"initializedTopics":[{"topicId":'
        '"CKG1ztYjSYKYHMPJwhhbwQ","topicName":"orders","partitions":[0]}],"deletingTopics":[]}}\n'
    )
    named = {"topic": "orders", "detail": "CKG1ztYjSYKYHMPJwhhbwQ", "time_ms": 1_000}
    assert of_kind(rows(path), "topic-id") == [named]
