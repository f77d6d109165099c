"""Records of requests and answers, batch by batch."""

from typing import Final

from ..protocol.record_batch import next_batch

MAGIC_AT: Final = 16


def split(records: bytes) -> tuple[list[bytes], bytes]:
    """Whole batches, and messages of old formats; and the rest: a torn batch, or something else."""
    found, at = [], 0
    while size := _size(records, at):
        found.append(records[at : at + size])
        at += size
    return found, records[at:]


def _size(records: bytes, at: int) -> int:
    try:
        return next_batch(memoryview(records)[at:])
    except ValueError:
        return 0
