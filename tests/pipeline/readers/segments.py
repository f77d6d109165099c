"""Segments made for tests: batches of our own, and messages of the old formats by another library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aiokafka.record.legacy_records import LegacyRecordBatchBuilder

from mockbroker.rig.batches import batch

NAME = "00000000000000000000.log"


def data(offset: int, count: int = 2, epoch: int = 0, **values: Any) -> bytes:
    """A batch of `count` records as it lies in a log; `values` are those of `rig.batches.batch`."""
    return batch(count, base_offset=offset, partition_leader_epoch=epoch, **values)


def old(magic: int, compression: int, count: int = 3) -> bytes:
    """A message set of magic 0 or 1 with offsets from 0."""
    builder = LegacyRecordBatchBuilder(magic, compression, batch_size=1 << 20)
    for offset in range(count):
        builder.append(
            offset, timestamp=1000 + offset if magic else None, key=None, value=b"value %d" % offset
        )
    made = builder.build()
    if compression:  # brokers give the wrapper the last offset
        made[:8] = (count - 1).to_bytes(8)
    return bytes(made)


def segment(folder: Path, content: bytes, partition: str = "orders-0") -> Path:
    path = folder / partition / NAME
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return path
