"""The searches, one file for each signature: `find(observations) -> findings`."""

from collections.abc import Callable
from typing import Final

from pyspark.sql import DataFrame

from . import epochs, followers, lag, outflux, resets, rewinds, sequences, truncations

SEARCHES: Final[dict[str, Callable[[DataFrame], DataFrame]]] = {
    "offsets that go back": rewinds.find,
    "positions that were lost": resets.find,
    "truncations": truncations.find,
    "leader epochs": epochs.find,
    "followers": followers.find,
    "sequences of producers": sequences.find,
    "lag": lag.find,
    "outflux without influx": outflux.find,
}
"""By what the progress says while they run."""
