"""Where groups and transactions are coordinated, and how that moves to another broker."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ...rig.client import Client
from ...rig.scene import UNKNOWN_TOPIC_ID
from . import aside
from .binding import Bindings
from .waiting import until

GROUPS, TRANSACTIONS, SHARES = "__consumer_offsets", "__transaction_state", "__share_group_state"
COORDINATORS: Final = (GROUPS, TRANSACTIONS)
"""The topics whose leaders coordinate: each with one partition, and a replica on every broker. Where share
groups are asked for, `SHARES` is one, too."""
CLEANED_UP: Final = {GROUPS: "compact", TRANSACTIONS: "compact", SHARES: "delete"}
_NOBODY: Final = "aside"
_LIMIT_S: Final = 30.0
_LOADING: Final = "COORDINATOR_LOAD_IN_PROGRESS"
_NOT: Final = "NOT_COORDINATOR"
_LED: Final = frozenset({"NONE", "ELECTION_NOT_NEEDED"})
_NO_PARTITION: Final = {"leader_id": -1, "leader_epoch": -1, "replica_nodes": [], "isr_nodes": []}
Nodes = Mapping[int, Client]
"""A client of each broker that is up, by id."""


def move(topic: str, node: int, nodes: Nodes) -> bool:
    """Elects a broker that is in sync as leader: again, if it was fenced for a moment on a busy machine."""
    return until(lambda: _elected(topic, node, nodes), _LIMIT_S)


def _elected(topic: str, node: int, nodes: Nodes) -> bool:
    first = next(iter(nodes.values()))
    others = [each for each in _partition(first, topic)["replica_nodes"] if each != node]
    placed = {"partition_index": 0, "replicas": [node, *others]}
    named = {"timeout": 10_000, "topics": [{"name": topic, "partitions": [placed]}]}
    first.call("alter_partition_reassignments", 0, named)
    elected = {"topic": topic, "partitions": [0]}
    asked = {"election_type": 0, "topic_partitions": [elected], "timeout": 10_000}
    found = first.call("elect_leaders", 2, asked)["replica_election_results"]
    errors = {part["error_code"] for each in found for part in each["partition_result"]}
    return bool(errors) and errors <= _LED


def settle(
    nodes: Nodes, bound: Bindings, topic: str, node: int | None, topics: Sequence[str] = COORDINATORS
) -> bool:
    """Waits until brokers agree on who coordinates, which have loaded all there is, and what these write is
    replicated. Binds them. If a broker is named, it is that which is to lead `topic`."""

    def agreed() -> bool:
        return all(_agreed(each, nodes, bound) for each in topics) and (
            node is None or bound.leaders[topic, 0][0] == node
        )

    return (
        until(agreed, _LIMIT_S)
        and until(lambda: _write(nodes, bound, topics), _LIMIT_S)
        and until(lambda: _replicated(nodes, bound, topics), _LIMIT_S)
    )


def _write(nodes: Nodes, bound: Bindings, topics: Sequence[str]) -> bool:
    """Has each coordinator write something, and followers fetch it: they may have paused after a move."""
    part = {"partition_index": 0, "committed_offset": 0, "committed_leader_epoch": -1}
    commit = {
        "group_id": _NOBODY,
        "generation_id_or_member_epoch": -1,
        "topics": [{"name": GROUPS, "partitions": [part]}],
    }
    start = {"transactional_id": _NOBODY, "transaction_timeout": 60_000}
    groups, transactions = (nodes[bound.leaders[topic, 0][0]] for topic in COORDINATORS)
    [committed] = groups.call("offset_commit", 8, commit)["topics"][0]["partitions"]
    started = transactions.call("init_producer_id", 1, start)
    answered = [committed["error_code"], started["error_code"]]
    if SHARES in topics:
        answered.append(_initialized(nodes[bound.leaders[SHARES, 0][0]]))
    return answered == ["NONE"] * len(answered)


def _initialized(client: Client) -> str:
    [known] = aside.metadata(client, [GROUPS])["topics"]
    part = {"partition": 0, "state_epoch": 0, "start_offset": 0}
    asked = {"group_id": _NOBODY, "topics": [{"topic_id": known["topic_id"], "partitions": [part]}]}
    [topic] = client.call("initialize_share_group_state", 0, asked)["results"]
    return str(topic["partitions"][0]["error_code"])


def _replicated(nodes: Nodes, bound: Bindings, topics: Sequence[str]) -> bool:
    """Whether each broker knows that all there is is replicated: the next leader begins with that."""
    return all(
        {_high_watermark(client, topic) for client in nodes.values()}
        == {_end(nodes[bound.leaders[topic, 0][0]], topic)}
        for topic in topics
    )


def _agreed(topic: str, nodes: Nodes, bound: Bindings) -> bool:
    seen = [_partition(client, topic) for client in nodes.values()]
    leader = seen[0]["leader_id"]
    if leader not in nodes:
        return False
    if any(each["leader_id"] != leader or set(each["isr_nodes"]) != set(nodes) for each in seen):
        return False
    bound.leaders[topic, 0] = leader, seen[0]["leader_epoch"]
    error = _ERRORS[topic]
    for node, client in nodes.items():
        found = error(client)
        if found == _LOADING or (found == _NOT) is (node == leader):
            return False
    return True


def told(topics: Sequence[str], nodes: Nodes) -> str:
    """What each broker says of them, for a message."""
    return "; ".join(
        f"{node}: {topic} {_partition(client, topic)}, {_ERRORS[topic](client)}, "
        f"high watermark {_high_watermark(client, topic)}"
        for node, client in nodes.items()
        for topic in topics
    )


def _partition(client: Client, topic: str) -> dict[str, Any]:
    [found] = aside.metadata(client, [topic])["topics"]
    return found["partitions"][0] if found["partitions"] else _NO_PARTITION


def _group_error(client: Client) -> str:
    return str(client.call("offset_fetch", 2, {"group_id": _NOBODY, "topics": None})["error_code"])


def _transaction_error(client: Client) -> str:
    asked = {"transactional_id": _NOBODY, "producer_id": 0, "producer_epoch": 0, "committed": True}
    return str(client.call("end_txn", 1, asked)["error_code"])


def _share_error(client: Client) -> str:
    part = {"partition": 0, "leader_epoch": 0}
    asked = {"group_id": _NOBODY, "topics": [{"topic_id": UNKNOWN_TOPIC_ID, "partitions": [part]}]}
    [topic] = client.call("read_share_group_state_summary", 0, asked)["results"]
    return str(topic["partitions"][0]["error_code"])


_ERRORS: Final = {GROUPS: _group_error, TRANSACTIONS: _transaction_error, SHARES: _share_error}


def _high_watermark(client: Client, topic: str) -> int:
    """As that broker knows it, whether it leads or follows."""
    # Share coordinators delete what nobody needs any more, once in five minutes.
    start = max(0, _end(client, topic, aside.EARLIEST))
    return int(aside.fetched(client, topic, 0, start)["high_watermark"])


def _end(client: Client, topic: str, which: int = aside.LATEST) -> int:
    """Of a replica's log: its end, or its start."""
    asked = {"name": topic, "partitions": [{"partition_index": 0}]}
    [(_, _, found)] = aside.ends(client, [asked], which, replica=aside.DEBUGGER)
    return int(found["offset"])
