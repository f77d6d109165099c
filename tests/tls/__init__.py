"""What brokers do at listeners with TLS, as real ones do: `python -m mockbroker.rig record tests.tls`."""

from .stories import STORIES

__all__ = ["STORIES"]
