"""What real brokers answered to groups and wrote to the offsets topic, and the same asked of ours."""

from .stories import STORIES

__all__ = ["STORIES"]
