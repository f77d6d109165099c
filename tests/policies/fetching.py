"""One partition, and clients that produce and fetch through the handlers."""

from typing import Any

from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from mockbroker.protocol.record_batch import header_of

from ..cluster.lab import LAG_MS, Bench

__all__ = ["LAG_MS", "Lab", "offsets"]


class Lab(Bench):
    """Consumers fetch here, with all that a request may say."""

    def __init__(self, kafka: str = "4.4", policies: dict[str, str] | None = None, **options: Any) -> None:
        super().__init__(policies, kafka=kafka, **options)

    def request(
        self,
        offset: int,
        *,
        epoch: int = -1,
        last_epoch: int = -1,
        rack: str = "",
        session: tuple[int, int] = (0, -1),
        wait_ms: int = 0,
    ) -> FetchRequest:
        asked = FetchPartition(0, epoch, offset, last_epoch, -1, 1 << 20)
        session_id, session_epoch = session
        return FetchRequest(
            max_wait_ms=wait_ms,
            min_bytes=1,
            session_id=session_id,
            session_epoch=session_epoch,
            topics=[FetchTopic(topic="t", partitions=[asked])],
            rack_id=rack,
        )

    def fetch(
        self, offset: int, *, broker: int | None = None, version: int = 12, **asked: Any
    ) -> FetchResponse:
        answer, _ = self.ask(ApiKey.FETCH, version, self.request(offset, **asked), broker)
        assert isinstance(answer, FetchResponse)
        return answer

    def read(self, offset: int, **asked: Any) -> PartitionData:
        """What is answered for the partition."""
        return self.fetch(offset, **asked).responses[0].partitions[0]


def offsets(found: PartitionData) -> list[int]:
    """Those of the records that were read, by batch."""
    return [
        offset
        for header in map(header_of, found.records or ())
        for offset in range(header.base_offset, header.base_offset + header.last_offset_delta + 1)
    ]
