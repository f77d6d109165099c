"""What brokers do at a listener with SASL, as real ones do: `python -m mockbroker.rig record tests.sasl`."""

from .stories import STORIES

__all__ = ["STORIES"]
