"""`replica-racks`: whether a group's epoch begins when the racks of its topics' replicas change.

A group that is no classic one begins an epoch when one of its topics has more partitions than before. Up to
3.9 it also does so when the replicas of a partition are in other racks (`distinct`), so that a reassignment
may rebalance it. In 4.0 racks don't count (`ignored`, KIP-1101). Since 4.1 they do, and how many replicas
there are in each (`each`): a replica more or less in a rack begins an epoch, too.
"""

from typing import Final, Literal

from ..behaviour import Behaviour

Racks = Literal["distinct", "ignored", "each"]

replica_racks: Final = Behaviour[Racks](
    name="replica-racks",
    summary="which racks of a partition's replicas a group knows: it begins an epoch when they change",
    answers={"distinct": "distinct", "ignored": "ignored", "each": "each"},
    history=(("0.11", "distinct"), ("4.0", "ignored"), ("4.1", "each")),
    ids=("KIP-848", "KIP-1101"),
)
