"""What real brokers knew of producers once they were back, and the same asked of ours."""

from .stories import STORIES

__all__ = ["STORIES"]
