"""Changes of configurations that say too little or too much, as brokers of many releases answer them:
`python -m mockbroker.rig record tests.configs.altering`."""

from .stories import STORIES

__all__ = ["STORIES"]
