"""Seeded randomness: one seed, a stream for each concern."""

import random
from collections.abc import Callable


def streams(seed: int) -> Callable[[str], random.Random]:
    """The same streams from the same seed, in every process."""
    return lambda concern: random.Random(f"{seed}/{concern}")
