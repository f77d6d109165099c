"""A log that is compacted."""

from typing import Any, Final

from ..driving.log import LogDriver

BACKOFF_MS: Final = 15_000


class CompactedDriver(LogDriver):
    """Each batch is a segment of its own, and anything dirty is compacted, unless told."""

    def __init__(self, **configs: Any) -> None:
        names = {"cleanup_policy": "compact", "segment_bytes": 130, "min_cleanable_dirty_ratio": 0.0}
        super().__init__(**{**names, **configs})

    def roll(self) -> None:
        """Makes what is there inactive."""
        self.append([(b"roll", b"")])

    def clean(self) -> None:
        """All that is there is compacted."""
        self.roll()
        self.advance(BACKOFF_MS)
