"""Messages of magic 0 and 1, and the oldest versions of requests, as real brokers answered them."""

from .stories import STORIES

__all__ = ["STORIES"]
