"""Whether groups begin an epoch when their topics are reassigned to other racks, asked by request."""

from .stories import STORIES

__all__ = ["STORIES"]
