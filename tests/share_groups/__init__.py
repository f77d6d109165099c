"""Share groups, as on real brokers (KIP-932): `python -m mockbroker.rig record tests.share_groups`."""

from .stories import STORIES

__all__ = ["STORIES"]
