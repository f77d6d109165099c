"""Has a share group begin anew, as `kafka-share-groups.sh --reset-offsets` does."""

from typing import Final

from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
    AlterShareGroupOffsetsResponse,
)
from .client import NO_BROKER, ModelClient
from .scene import SHARERS, Scene
from .share_setting import TOPIC

_TIMES: Final = 20
_AGAIN: Final = frozenset(
    {
        ErrorCode.NON_EMPTY_GROUP,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    }
)


class ShareAdmin(ModelClient):
    """Tries again for two seconds, until the group is empty and somebody coordinates it."""

    def __init__(self, scene: Scene, name: str) -> None:
        super().__init__(scene, name, {ApiKey.METADATA: 9, ApiKey.ALTER_SHARE_GROUP_OFFSETS: 0})

    def alter(self, percent: int, times: int = _TIMES) -> None:
        """Begins at an offset that is `percent` of the way from the log start to the high watermark."""
        coordinator = self.coordinator(SHARERS)
        if not times:
            return
        if coordinator == NO_BROKER:
            self.later(lambda: self.alter(percent, times - 1))
            return
        parts = []
        for place in self.scene.shared:
            log = self.scene.partition(place).log
            offset = log.start_offset + (log.high_watermark - log.start_offset) * percent // 100
            parts.append(AlterShareGroupOffsetsRequestPartition(place[1], offset))
        request = AlterShareGroupOffsetsRequest(SHARERS, [AlterShareGroupOffsetsRequestTopic(TOPIC, parts)])

        def answered(answer: AlterShareGroupOffsetsResponse | None) -> None:
            error = ErrorCode.NONE if answer is None else ErrorCode(answer.error_code)
            if error in _AGAIN:
                self.later(lambda: self.alter(percent, times - 1))
            elif answer is not None:
                told = ", ".join(f"{TOPIC}-{part.partition_index} at {part.start_offset}" for part in parts)
                self.tell(f"has the group begin {told}: {error.name}")

        self.ask(coordinator, ApiKey.ALTER_SHARE_GROUP_OFFSETS, request, answered, "admin")
