"""Delegation tokens, as on real brokers: `python -m mockbroker.rig record tests.delegation_tokens`."""

from .stories import STORIES

__all__ = ["STORIES"]
