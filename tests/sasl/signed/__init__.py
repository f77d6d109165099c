"""Signed tokens, as real brokers check them: `python -m mockbroker.rig record tests.sasl.signed`."""

from .stories import STORIES

__all__ = ["STORIES"]
