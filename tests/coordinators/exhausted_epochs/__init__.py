"""The last epochs of a transactional producer, as at real brokers (KAFKA-20090), which take a minute to come
there: `python -m mockbroker.rig record tests.coordinators.exhausted_epochs`."""

from .stories import STORIES

__all__ = ["STORIES"]
