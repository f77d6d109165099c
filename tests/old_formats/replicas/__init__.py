"""Replicas of topics whose records are kept in old formats, as real brokers have them."""

from .stories import STORIES

__all__ = ["STORIES"]
