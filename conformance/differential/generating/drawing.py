"""One sequence from a seed."""

import random
from collections.abc import Callable
from typing import Final

from ..steps import Sequence
from . import admin, groups, malformed, producing, reading, transactions
from .world import Versions, World

Draw = Callable[[World], None]
_CLIENT_IDS: Final = ("differential", None, "", "ключ", "a" * 200, "with space")

DATA: Final[dict[Draw, int]] = {
    producing.produce: 40,
    reading.fetch: 28,
    reading.list_offsets: 8,
    reading.offset_for_leader_epoch: 4,
    reading.delete_records: 5,
    transactions.init_producer_id: 8,
}
TRANSACTIONS: Final[dict[Draw, int]] = {
    transactions.transaction: 14,
    producing.produce: 18,
    transactions.init_producer_id: 12,
    transactions.add_partitions_to_txn: 8,
    transactions.add_offsets_to_txn: 5,
    transactions.txn_offset_commit: 6,
    transactions.end_txn: 10,
    transactions.write_txn_markers: 2,
    transactions.describe_transactions: 4,
    transactions.list_transactions: 3,
    transactions.describe_producers: 3,
    reading.fetch: 6,
    reading.list_offsets: 4,
    groups.offset_fetch: 3,
    reading.delete_records: 1,
}
GROUPS: Final[dict[Draw, int]] = {
    groups.rebalance: 14,
    groups.join_group: 14,
    groups.sync_group: 10,
    groups.heartbeat: 10,
    groups.leave_group: 7,
    groups.offset_commit: 14,
    groups.offset_fetch: 12,
    groups.offset_delete: 4,
    groups.delete_groups: 5,
    groups.describe_groups: 7,
    groups.list_groups: 5,
    groups.find_coordinator: 4,
    transactions.txn_offset_commit: 2,
    admin.delete_topics: 1,
}
ADMIN: Final[dict[Draw, int]] = {
    admin.create_topics: 12,
    admin.delete_topics: 6,
    admin.create_partitions: 8,
    admin.describe_configs: 8,
    admin.alter_configs: 6,
    admin.incremental_alter_configs: 9,
    admin.metadata: 14,
    admin.describe_topic_partitions: 5,
    admin.describe_cluster: 3,
    producing.produce: 14,
    reading.fetch: 6,
    reading.list_offsets: 5,
}
_FAMILIES: Final = {
    "data": (DATA, 42),
    "transactions": (TRANSACTIONS, 24),
    "groups": (GROUPS, 20),
    "admin": (ADMIN, 14),
}
FAMILIES: Final = tuple(_FAMILIES)


def sequence(
    seed: int, number: int, versions: Versions, *, malformed_steps: bool = False, family: str | None = None
) -> Sequence:
    """Sequence `number` of `seed`: 10 to 25 steps, in versions out of `versions` (by API)."""
    rng = random.Random(f"{seed}:{number}:{malformed_steps}")
    world = World(rng, versions)
    drawn = rng.choices(list(_FAMILIES), [weight for _, weight in _FAMILIES.values()])[0]
    drawn = family or drawn
    weights, _ = _FAMILIES[drawn]
    if drawn == "transactions" and world.chance(98):
        # Markers are of now, and would roll a segment of old records.
        world.era = "now"
    admin.first_topics(world)
    if world.chance(60):
        transactions.init_producer_id(world)
    wanted = rng.randint(10, 25)
    while len(world.steps) < wanted:
        if world.chance(6):
            everything = {**ADMIN, **GROUPS, **TRANSACTIONS, **DATA}
            draw = rng.choice(list(everything))
        else:
            draw = rng.choices(list(weights), list(weights.values()))[0]
        if all(world.has(each) for each in (draw.__name__,)) or draw.__name__ in ("transaction", "rebalance"):
            draw(world)
    client_id = "differential" if world.chance(70) else rng.choice(_CLIENT_IDS)
    steps = tuple(world.steps[:25])
    if malformed_steps:
        steps = malformed.spoiled(rng, steps, versions)
    return Sequence(f"{seed}:{number}", steps, client_id)
