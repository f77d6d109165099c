"""For each API, a request that names two things, and what it takes to be allowed the first of them."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from mockbroker.rig.batches import Record, batch

from .stage import AclStage

Ask = Callable[[AclStage], Mapping[str, Any]]


class Asked(NamedTuple):
    """`needed` are the ACLs that allow what concerns `a`; of several steps, each adds to those before. The
    newest version is -1."""

    api: str
    ask: Ask
    needed: tuple[str, ...]
    versions: tuple[int, ...] = (-1,)


def two(s: AclStage, name: str = "name", **fields: Any) -> list[dict[str, Any]]:
    return [{name: s.named(each), **fields} for each in "ab"]


def records(**how: Any) -> bytes:
    return batch([Record()], **how)


def _produced(data: bytes, acks: int = 1, transactional_id: str | None = None) -> Ask:
    def ask(s: AclStage) -> dict[str, Any]:
        topics = two(s, partition_data=[{"index": 0, "records": data}])
        named = None if transactional_id is None else s.named(transactional_id)
        return {"transactional_id": named, "acks": acks, "timeout": 5000, "topic_data": topics}

    return ask


def _fetch(s: AclStage) -> dict[str, Any]:
    partition = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1000, "current_leader_epoch": -1}
    return {
        "replica_id": -1,
        "max_wait": 0,
        "min_bytes": 0,
        "max_bytes": 1000,
        "session_epoch": -1,
        "topics": two(s, "topic", partitions=[partition]),
    }


def _group(**fields: Any) -> Ask:
    return lambda s: {"group_id": s.named("g"), **fields}


def _committed(**fields: Any) -> Ask:
    def ask(s: AclStage) -> dict[str, Any]:
        partition = {"partition_index": 0, "committed_offset": 1, "committed_metadata": ""}
        found = {name: s.named(each) for name, each in fields.items()}
        return {"group_id": s.named("g"), **found, "topics": two(s, partitions=[partition])}

    return ask


def _fetched_offsets(s: AclStage, all_topics: bool = False) -> dict[str, Any]:
    topics = None if all_topics else two(s, partition_indexes=[0])
    groups = [{"group_id": s.named(each), "member_epoch": -1, "topics": topics} for each in ("g", "h")]
    return {"group_id": s.named("g"), "topics": topics, "groups": groups}


def _txn(**fields: Any) -> Ask:
    return lambda s: {"transactional_id": s.named("t"), "producer_id": 4242, "producer_epoch": 0, **fields}


def _added(s: AclStage) -> dict[str, Any]:
    topics = two(s, partitions=[0])
    producer = {"transactional_id": s.named("t"), "producer_id": 4242, "producer_epoch": 0}
    old = {f"v3_and_below_{name}": value for name, value in (*producer.items(), ("topics", topics))}
    return {**old, "transactions": [{**producer, "verify_only": True, "topics": topics}]}


def _marked(s: AclStage) -> dict[str, Any]:
    topics = two(s, partition_indexes=[0])
    return {
        "markers": [
            {"producer_id": 4242, "transaction_result": True, "coordinator_epoch": 0, "topics": topics}
        ]
    }


def _created(s: AclStage) -> dict[str, Any]:
    counts: dict[str, Any] = {"num_partitions": 1, "replication_factor": 1}
    return {"topics": two(s, **counts), "timeout": 5000, "validate_only": True}


OFFSETS: Final = [{"partition_index": 0, "timestamp": -1, "current_leader_epoch": -1}]
EPOCHS: Final = [{"partition": 0, "current_leader_epoch": -1, "leader_epoch": 0}]
PROTOCOLS: Final = [{"name": "range", "metadata": b""}]
_MEMBER: Final = {"member_id": "m", "generation_id": 1}
_JOIN: Final = {"member_id": "", "protocol_type": "consumer", "protocols": PROTOCOLS}
_TIMEOUTS: Final = {"session_timeout": 10_000, "rebalance_timeout": 10_000}
WRITE: Final = "alice allow write on topic:a"
READ: Final = "alice allow read on topic:a"
DESCRIBE: Final = "alice allow describe on topic:a"
READ_GROUP: Final = "alice allow read on group:g"
DESCRIBE_GROUP: Final = "alice allow describe on group:g"
WRITE_ID: Final = "alice allow write on transactional_id:t"

RECORDS: Final = (
    Asked("produce", _produced(records()), (DESCRIBE, WRITE), (3, 8, 12)),
    Asked("fetch", _fetch, (DESCRIBE, READ), (4, 8, 11, 12)),
    Asked(
        "list_offsets",
        lambda s: {"replica_id": -1, "topics": two(s, partitions=OFFSETS)},
        (DESCRIBE,),
        (1, -1),
    ),
    Asked(
        "offset_for_leader_epoch",
        lambda s: {"replica_id": -1, "topics": two(s, "topic", partitions=EPOCHS)},
        (DESCRIBE, "alice allow cluster_action on cluster"),
    ),
    Asked(
        "delete_records",
        lambda s: {"topics": two(s, partitions=[{"partition_index": 0, "offset": 0}]), "timeout": 5000},
        (READ, "alice allow delete on topic:a"),
    ),
    Asked("describe_producers", lambda s: {"topics": two(s, partition_indexes=[0])}, (DESCRIBE, READ)),
)
TOPICS: Final = (
    Asked(
        "metadata",
        lambda s: {
            "topics": two(s),
            "allow_auto_topic_creation": False,
            "include_topic_authorized_operations": True,
            "include_cluster_authorized_operations": True,
        },
        (DESCRIBE, WRITE, "alice allow describe on cluster"),
        (1, 4, 9, -1),
    ),
    Asked("describe_topic_partitions", lambda s: {"topics": two(s)}, (DESCRIBE, WRITE)),
    Asked("create_topics", _created, ("alice allow create on topic:a",), (2, 4)),
    Asked(
        "create_partitions",
        lambda s: {"topics": two(s, count=2, assignments=None), "timeout": 5000, "validate_only": True},
        (DESCRIBE, "alice allow alter on topic:a"),
        (0, -1),
    ),
)
GROUPS: Final = (
    Asked("join_group", _group(**_JOIN, **_TIMEOUTS), (DESCRIBE_GROUP, READ_GROUP), (2, 5, -1)),
    Asked("sync_group", _group(**_MEMBER, assignments=[]), (DESCRIBE_GROUP, READ_GROUP), (1, -1)),
    Asked(
        "sync_group",
        _group(**_MEMBER, assignments=[], protocol_type="consumer", protocol_name="range"),
        (READ_GROUP,),
    ),
    Asked("heartbeat", _group(**_MEMBER), (DESCRIBE_GROUP, READ_GROUP), (1, -1)),
    Asked(
        "leave_group",
        _group(member_id="m", members=[{"member_id": "m"}, {"member_id": "n"}]),
        (DESCRIBE_GROUP, READ_GROUP),
        (1, -1),
    ),
    Asked(
        "offset_commit",
        _committed(),
        (DESCRIBE_GROUP, READ_GROUP, DESCRIBE, READ),
        (2, 8),
    ),
    Asked("offset_fetch", _fetched_offsets, (DESCRIBE_GROUP, DESCRIBE), (1, 5, 8)),
    Asked(
        "offset_delete",
        lambda s: {"group_id": s.named("g"), "topics": two(s, partitions=[{"partition_index": 0}])},
        ("alice allow delete on group:g", READ),
    ),
    Asked(
        "find_coordinator",
        lambda s: {"key_type": 0, "key": s.named("g"), "coordinator_keys": [s.named("g"), s.named("h")]},
        (DESCRIBE_GROUP,),
        (0, 1, 3, -1),
    ),
    Asked(
        "find_coordinator",
        lambda s: {"key_type": 1, "key": s.named("t"), "coordinator_keys": [s.named("t"), s.named("u")]},
        ("alice allow describe on transactional_id:t",),
        (1, -1),
    ),
    Asked(
        "describe_groups",
        lambda s: {"groups": [s.named("g"), s.named("h")], "include_authorized_operations": True},
        (DESCRIBE_GROUP, READ_GROUP),
        (2, 5, -1),
    ),
    Asked(
        "delete_groups",
        lambda s: {"groups_names": [s.named("g"), s.named("h")]},
        (READ_GROUP, "alice allow delete on group:g"),
    ),
)
TRANSACTIONS: Final = (
    Asked(
        "init_producer_id",
        lambda s: {
            "transactional_id": s.named("t"),
            "transaction_timeout": 5000,
            "producer_id": -1,
            "producer_epoch": -1,
        },
        ("alice allow describe on transactional_id:t", WRITE_ID),
        (0, -1),
    ),
    Asked("add_offsets_to_txn", lambda s: {**_txn()(s), "group_id": s.named("g")}, (WRITE_ID, READ_GROUP)),
    Asked("end_txn", _txn(committed=True), (WRITE_ID,)),
    Asked(
        "add_partitions_to_txn", _added, (WRITE_ID, WRITE, "alice allow cluster_action on cluster"), (3, 4)
    ),
    Asked(
        "txn_offset_commit",
        lambda s: {
            **_committed(transactional_id="t")(s),
            "producer_id": 4242,
            "producer_epoch": 0,
            "generation_id": -1,
            "member_id": "",
        },
        (WRITE_ID, READ_GROUP, READ),
        (2, 3),
    ),
    Asked(
        "write_txn_markers",
        _marked,
        ("alice allow describe on cluster", "alice allow cluster_action on cluster"),
    ),
    Asked(
        "describe_transactions",
        lambda s: {"transactional_ids": [s.named("t"), s.named("u")]},
        ("alice allow describe on transactional_id:t",),
    ),
    Asked(
        "produce",
        _produced(records(attributes=0x10, producer_id=4242, producer_epoch=0, sequence=0), -1, "t"),
        (WRITE, WRITE_ID),
        (12,),
    ),
)
