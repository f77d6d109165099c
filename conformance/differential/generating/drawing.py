"""One sequence from a seed."""

import random
from collections.abc import Callable
from typing import Final

from ..steps import Sequence
from . import (
    access,
    admin,
    consuming,
    faults,
    groups,
    malformed,
    producing,
    reading,
    replicas,
    share_groups,
    sharing,
    streaming,
    streams_groups,
    transactions,
)
from .world import Versions, World

_ANYTHING: Final = ("admin", "groups", "transactions", "data")
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
REPLICAS: Final[dict[Draw, int]] = {
    replicas.create_topics: 6,
    replicas.create_partitions: 6,
    replicas.elect_leaders: 14,
    replicas.alter_partition_reassignments: 14,
    replicas.list_partition_reassignments: 4,
    admin.metadata: 3,
    admin.describe_topic_partitions: 5,
    admin.describe_cluster: 3,
    admin.describe_configs: 4,
    admin.incremental_alter_configs: 4,
    admin.alter_configs: 2,
    admin.delete_topics: 2,
    producing.produce: 22,
    reading.fetch: 16,
    reading.list_offsets: 7,
    reading.offset_for_leader_epoch: 10,
    reading.delete_records: 4,
    transactions.init_producer_id: 3,
    transactions.describe_producers: 2,
}
FAULTS: Final[dict[Draw, int]] = {
    faults.kill_broker: 9,
    replicas.stop_broker: 4,
    replicas.start_broker: 9,
    faults.acknowledged: 20,
    faults.cancel_reassignments: 5,
    faults.require_in_sync: 4,
    replicas.alter_partition_reassignments: 14,
    replicas.list_partition_reassignments: 9,
    replicas.elect_leaders: 8,
    admin.describe_topic_partitions: 5,
    admin.describe_cluster: 2,
    admin.metadata: 2,
    reading.fetch: 6,
    reading.list_offsets: 5,
    reading.offset_for_leader_epoch: 4,
    reading.delete_records: 2,
}
SHARE_GROUPS: Final[dict[Draw, int]] = {
    sharing.deliver: 10,
    sharing.write: 8,
    sharing.share_fetch: 26,
    sharing.share_acknowledge: 24,
    sharing.join: 7,
    sharing.share_group_heartbeat: 9,
    sharing.disconnect: 3,
    sharing.let_locks_end: 1,
    share_groups.configure_group: 7,
    share_groups.describe_configs: 1,
    share_groups.share_group_describe: 5,
    share_groups.list_groups: 2,
    share_groups.find_coordinator: 1,
    share_groups.describe_share_group_offsets: 7,
    share_groups.alter_share_group_offsets: 3,
    share_groups.delete_share_group_offsets: 2,
    share_groups.read_share_group_state: 12,
    share_groups.read_share_group_state_summary: 2,
    share_groups.initialize_share_group_state: 1,
    share_groups.write_share_group_state: 2,
    share_groups.delete_share_group_state: 1,
    share_groups.consumer_group_describe: 1,
    groups.delete_groups: 2,
    groups.describe_groups: 2,
    groups.offset_fetch: 1,
    groups.offset_commit: 1,
    groups.join_group: 1,
    producing.produce: 5,
    transactions.transaction: 5,
    transactions.init_producer_id: 1,
    transactions.end_txn: 2,
    reading.delete_records: 4,
    reading.list_offsets: 1,
    admin.create_partitions: 2,
    admin.delete_topics: 1,
    admin.create_topics: 1,
}
ACCESS: Final[dict[Draw, int]] = {
    access.create_acls: 22,
    access.describe_acls: 18,
    access.delete_acls: 12,
    access.alter_client_quotas: 16,
    access.describe_client_quotas: 14,
    access.alter_user_scram_credentials: 12,
    access.describe_user_scram_credentials: 10,
    admin.metadata: 3,
    admin.describe_cluster: 2,
}
CONSUMER_GROUPS: Final[dict[Draw, int]] = {
    consuming.join: 10,
    consuming.consumer_group_heartbeat: 34,
    consuming.rebalance: 12,
    consuming.join_classic: 8,
    consuming.consumer_group_describe: 14,
    consuming.list_groups: 3,
    consuming.configure_group: 2,
    groups.sync_group: 6,
    groups.heartbeat: 4,
    groups.leave_group: 2,
    groups.offset_commit: 9,
    groups.offset_fetch: 5,
    groups.offset_delete: 3,
    groups.delete_groups: 4,
    groups.describe_groups: 3,
    transactions.offsets_in_transaction: 3,
    transactions.end_txn: 2,
    admin.create_partitions: 3,
    admin.delete_topics: 2,
    admin.create_topics: 3,
}
STREAMS_GROUPS: Final[dict[Draw, int]] = {
    streaming.join: 10,
    streaming.streams_group_heartbeat: 34,
    streaming.rebalance: 12,
    streams_groups.streams_group_describe: 14,
    streams_groups.list_groups: 3,
    streams_groups.configure_group: 4,
    streams_groups.consumer_group_describe: 1,
    streams_groups.streams_group_topology_description_update: 1,
    streams_groups.change_internal_topic: 5,
    groups.offset_commit: 9,
    groups.offset_fetch: 5,
    groups.offset_delete: 2,
    groups.delete_groups: 4,
    groups.describe_groups: 1,
    groups.join_group: 1,
    transactions.offsets_in_transaction: 3,
    transactions.end_txn: 2,
    admin.create_partitions: 3,
    admin.delete_topics: 2,
    admin.create_topics: 3,
}
_RESTARTS: Final[dict[Draw, int]] = {replicas.stop_broker: 2, replicas.start_broker: 15}
_MOVES: Final[dict[Draw, int]] = {replicas.move_coordinator: 10}
_SHARE_MOVES: Final[dict[Draw, int]] = {
    replicas.move_share_coordinator: 7,
    replicas.elect_leaders: 7,
    replicas.alter_partition_reassignments: 7,
}
_IN_TRANSACTIONS: Final[dict[Draw, int]] = {transactions.offsets_in_transaction: 8}
_SEVERAL_STEPS: Final = (
    "transaction",
    "offsets_in_transaction",
    "rebalance",
    "acknowledged",
    "cancel_reassignments",
    "require_in_sync",
)
_OF_SEVERAL_APIS: Final = frozenset(
    {
        consuming.join,
        consuming.rebalance,
        consuming.join_classic,
        consuming.configure_group,
        streaming.join,
        streaming.rebalance,
        streams_groups.configure_group,
        streams_groups.change_internal_topic,
        sharing.begin,
        sharing.deliver,
        sharing.write,
        sharing.join,
        sharing.disconnect,
        sharing.let_locks_end,
        share_groups.configure_group,
        replicas.move_share_coordinator,
    }
)
"""Draws of several steps, or of what is no request."""
Families = dict[str, tuple[dict[Draw, int], int]]
_FAMILIES: Final[Families] = {
    "data": (DATA, 42),
    "transactions": (TRANSACTIONS, 24),
    "groups": (GROUPS, 20),
    "admin": (ADMIN, 14),
    "access": (ACCESS, 0),
    "consumer-groups": (CONSUMER_GROUPS, 0),
    "share-groups": (SHARE_GROUPS, 0),
    "streams-groups": (STREAMS_GROUPS, 0),
}
_PLACED: Final[dict[Draw, Draw]] = {
    admin.create_topics: replicas.create_topics,
    admin.create_partitions: replicas.create_partitions,
}


def _placed(weights: dict[Draw, int]) -> dict[Draw, int]:
    return {_PLACED.get(draw, draw): weight for draw, weight in weights.items()}


_OF_SEVERAL_BROKERS: Final[Families] = {
    "replicas": (REPLICAS | _RESTARTS, 55),
    "data": (_placed(DATA) | _RESTARTS, 15),
    "transactions": (_placed(TRANSACTIONS) | _RESTARTS | _MOVES, 10),
    "groups": (_placed(GROUPS) | _RESTARTS | _MOVES | _IN_TRANSACTIONS, 5),
    "admin": (_placed(ADMIN), 15),
    "faults": (FAULTS, 0),
    "access": (ACCESS, 0),
    "consumer-groups": (_placed(CONSUMER_GROUPS) | _RESTARTS | _MOVES, 0),
    "share-groups": (_placed(SHARE_GROUPS) | _RESTARTS | _SHARE_MOVES, 0),
    "streams-groups": (_placed(STREAMS_GROUPS) | _RESTARTS | _MOVES, 0),
}


_FIRST: Final[dict[str, Draw]] = {"faults": faults.first_topics}
_BEGIN: Final[dict[str, Draw]] = {
    "consumer-groups": consuming.join,
    "share-groups": sharing.begin,
    "streams-groups": streaming.begin,
}
"""With what sequences of a family begin once their topics are there."""


def families(brokers: int) -> Families:
    """The draws of each family with their weights, and the family's, for clusters of that size."""
    return _FAMILIES if brokers == 1 else _OF_SEVERAL_BROKERS


def sequence(
    seed: int,
    number: int,
    versions: Versions,
    *,
    malformed_steps: bool = False,
    family: str | None = None,
    brokers: int = 1,
) -> Sequence:
    """Sequence `number` of `seed`: 10 to 25 steps, in versions out of `versions` (by API)."""
    name = f"{seed}:{number}"
    rng = random.Random(f"{name}:{malformed_steps}")
    several = brokers > 1
    world = World(rng, versions, replicas.addressed if several else None)
    known = families(brokers)
    drawn = rng.choices(list(known), [weight for _, weight in known.values()])[0]
    drawn = family or drawn
    weights, _ = known[drawn]
    if (drawn == "transactions" and world.chance(98)) or several or drawn in _BEGIN:
        # Markers are of now, and would roll a segment of old records.
        world.era = "now"
    first: Draw = replicas.first_topics if several else admin.first_topics
    (_FIRST.get(drawn) or first)(world)
    if begin := _BEGIN.get(drawn):
        begin(world)
    elif world.chance(60):
        transactions.init_producer_id(world)
    wanted = rng.randint(10, 25)
    everything = [draw for other in _ANYTHING for draw in known[other][0]]
    while len(world.steps) < wanted:
        if world.chance(6):
            draw = rng.choice(list(dict.fromkeys(everything)))
        else:
            draw = rng.choices(list(weights), list(weights.values()))[0]
        if world.has(draw.__name__) or draw.__name__ in _SEVERAL_STEPS or draw in _OF_SEVERAL_APIS:
            draw(world)
    client_id = "differential" if world.chance(70) else rng.choice(_CLIENT_IDS)
    steps = tuple(world.steps[:25])
    if malformed_steps:
        steps = malformed.spoiled(rng, steps, versions)
    return Sequence(name, steps, client_id, brokers)
