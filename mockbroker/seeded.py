"""Seeded randomness for the core: one seed, a stream for each concern."""

import random

from .environment import Streams


def streams(seed: int) -> Streams:
    """The same streams from the same seed, in every process."""
    return lambda concern: random.Random(f"{seed}/{concern}")
