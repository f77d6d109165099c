"""Streams groups, as on real brokers (KIP-1071): `python -m mockbroker.rig record tests.streams_groups`."""

from .stories import STORIES

__all__ = ["STORIES"]
