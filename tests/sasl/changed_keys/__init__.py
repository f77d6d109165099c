"""A JWKS file that changes, as at real brokers: `python -m mockbroker.rig record tests.sasl.changed_keys`."""

from .stories import STORIES

__all__ = ["STORIES"]
