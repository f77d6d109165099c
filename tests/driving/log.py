"""What is in the log of one partition, and in its segments, as time goes by."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from mockbroker.protocol.record_batch import header_of, records
from mockbroker.rig.batches import NONE, Record, batch

from .partition import PartitionDriver, fetched, outcome

MINUTE_MS: Final = 60_000
DAY_MS: Final = 24 * 60 * MINUTE_MS


class LogDriver(PartitionDriver):
    """The leader's log of a topic on all brokers, with the topic's configuration in `overrides`."""

    def __init__(
        self,
        kafka: str = "3.9",
        policies: Mapping[str, str] | None = None,
        *,
        brokers: int = 1,
        config: Mapping[str, object] | None = None,
        **overrides: Any,
    ) -> None:
        super().__init__(kafka, policies, brokers=brokers, config=config, **overrides)
        self.log = self.partition.log

    def append(
        self,
        content: int | Sequence[tuple[bytes | None, bytes | None]] = 1,
        *,
        codec: int = NONE,
        age_ms: int = 0,
        size: int = 1,
        producer_id: int = -1,
        sequence: int = -1,
        no_timestamp: bool = False,
        times: int = 1,
    ) -> int:
        """Appends batches of records of `size` bytes, or of (key, value); the base offset of the last."""
        time = -1 if no_timestamp else self.now_ms - age_ms
        pairs = [(b"k", b"v" * size)] * content if isinstance(content, int) else content
        data = batch(
            [Record(value, key, time, headers=(("h", b"x"),)) for key, value in pairs],
            codec=codec,
            producer_id=producer_id,
            producer_epoch=0 if producer_id >= 0 else -1,
            sequence=sequence,
        )
        base_offset = -1
        for _ in range(times):
            error, base_offset = outcome(self.produce(data, timeout_ms=1000))
            assert error == 0, error
        return base_offset

    def batches_from(self, offset: int) -> tuple[int, list[bytes]]:
        """(error code, batches) as a consumer gets them, segment by segment."""
        found: list[bytes] = []
        while True:
            only = fetched(self.fetch(offset, max_bytes=1 << 30, min_bytes=0))
            if only.error_code or not only.records:
                return only.error_code, found
            found += [bytes(each) for each in only.records]
            offset = header_of(found[-1]).base_offset + header_of(found[-1]).last_offset_delta + 1

    def offset_for(self, timestamp: int) -> int:
        """What ListOffsets says."""
        return int(self.list_offset(timestamp, version=7).offset)

    def content(self) -> list[tuple[int, bytes | None, bytes | None]]:
        """(offset, key, value) of all that is in the log."""
        return [(r.offset, r.key, r.value) for each in self.log for r in records(each)]

    def ranges(self) -> list[tuple[int, int, int]]:
        """(base offset, last offset, record count) of each batch."""
        heads = [header_of(each) for each in self.log]
        return [(h.base_offset, h.base_offset + h.last_offset_delta, h.record_count) for h in heads]

    def segments(self) -> list[int]:
        """Base offsets of the segments."""
        return [each.base_offset for each in self.log.segments.all]
