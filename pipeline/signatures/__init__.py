"""The searches, one file for each signature: `find(observations) -> findings`."""

from collections.abc import Callable
from typing import Final, NamedTuple

from ..tables import Table
from . import (
    clocks,
    consumer_groups,
    cut_off,
    elections,
    epochs,
    followers,
    lag,
    lifetimes,
    loads,
    offsets_topic,
    outflux,
    resets,
    rewinds,
    sequences,
    transactions,
    truncations,
)


class Search(NamedTuple):
    """`needs` are kinds of rows: if there are no rows of any of them, nothing can be found."""

    find: Callable[[Table], Table]
    needs: tuple[str, ...]


SEARCHES: Final = {
    "offsets that go back": Search(rewinds.find, ("commit", "restore", "reset", "tombstone")),
    "the offsets topic": Search(offsets_topic.find, ("commit",)),
    "loads of offsets": Search(loads.find, ("load", "cleaner")),
    "positions that were lost": Search(resets.find, ("reset", "refused")),
    "truncations": Search(truncations.find, ("reset", "refused", "high-watermark")),
    "unclean elections": Search(elections.find, ("leader",)),
    "leaders that were cut off": Search(cut_off.find, ("in-sync-replicas",)),
    "leader epochs": Search(epochs.find, ("epoch-answer", "commit", "restore", "position", "fetched")),
    "followers": Search(followers.find, ("follower-failure",)),
    "sequences of producers": Search(sequences.find, ("refused",)),
    "transactions": Search(transactions.find, ("refused", "append")),
    "logs that begin anew": Search(lifetimes.find, ("log",)),
    "consumer groups of Kafka 4": Search(consumer_groups.find, ("member", "group", "refused")),
    "clocks": Search(clocks.find, ("leader", "log-start", "high-watermark", "truncation", "load")),
    "lag": Search(lag.find, ("restore", "reset")),
    "outflux without influx": Search(outflux.find, ("fetched",)),
}
"""By the name that is shown while they run."""
