"""Requests of transactional producers with an epoch above the current one, as brokers of many releases answer
them: `python -m mockbroker.rig record tests.coordinators.later_epochs`."""

from .stories import STORIES

__all__ = ["STORIES"]
