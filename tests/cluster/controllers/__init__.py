"""What controllers of real clusters did and said, story by story, and the same asked of ours."""

from .stories import STORIES

__all__ = ["STORIES"]
