"""What an authorizer allows, as on real brokers: `python -m mockbroker.rig record tests.acls`."""

from .stories import STORIES

__all__ = ["STORIES"]
