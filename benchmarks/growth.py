"""What a request costs as the cluster grows in what it doesn't name, counted: `python -m benchmarks.growth`.

Bytecode instructions with few and with many of everything. What isn't flat grows with the cluster. Linux
only.
"""

from __future__ import annotations

import argparse
import resource
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from mockbroker.acls import text
from mockbroker.cluster.authorizer import Authorizer
from mockbroker.cluster.cluster import Cluster
from mockbroker.rig.batches import Record, batch

from .asking import Asker, Fields
from .request_path import GROUP, NOW_MS, ROWS, TOPIC, Grown, measure, producing

FEW: Final = 10
MANY: Final = 1_000
FLAT: Final = 1.05
"""How many times as much a request may cost."""
_DAY_MS: Final = 24 * 3600 * 1000


def topics(cluster: Cluster, n: int) -> None:
    """n topics of one partition."""
    for number in range(n):
        cluster.create_topic(f"topic-{number}", [[1]])


def partitions(cluster: Cluster, n: int) -> None:
    """A topic of n partitions, each with a record."""
    cluster.create_topic("many", [[1]] * n)
    asker, records = Asker(cluster), batch([Record(timestamp=NOW_MS)])
    for index in range(n):
        asker.ask("produce", 12, producing(records, "many", index))


def groups(cluster: Cluster, n: int) -> None:
    """n classic groups of one member with one committed offset."""
    asker = Asker(cluster)
    for number in range(n):
        member = _joined(asker, f"group-{number}", _join(asker, f"group-{number}"))
        asker.ask("sync_group", 3, member | {"assignments": []})
        asker.ask("offset_commit", 8, _commit(member))


def members(cluster: Cluster, n: int) -> Fields:
    """n members of the group; one of them."""
    askers = [Asker(cluster) for _ in range(n)]
    ids = [_join(each, GROUP) for each in askers]
    first = _joined(askers[0], GROUP, ids[0])
    for each, member_id in zip(askers[1:], ids[1:], strict=True):
        each.send("join_group", 5, _joining(GROUP, member_id))
    if n > 1:
        first = _joined(askers[0], GROUP, ids[0])
    askers[0].ask("sync_group", 3, first | {"assignments": []})
    for each in askers[1:]:
        of = each.answer("join_group", 5)
        member = {"group_id": GROUP, "member_id": of["member_id"], "generation_id": of["generation_id"]}
        each.ask("sync_group", 3, member | {"assignments": []})
    return first


def producers(cluster: Cluster, n: int) -> None:
    """n producer ids that wrote to the topic's partition."""
    asker = Asker(cluster)
    for number in range(n):
        records = batch(
            [Record(timestamp=NOW_MS)], producer_id=1_000_000 + number, producer_epoch=0, sequence=0
        )
        asker.ask("produce", 12, producing(records))


def sessions(cluster: Cluster, n: int) -> None:
    """n fetch sessions of the partition."""
    asker = Asker(cluster)
    partition = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1024}
    fields: Fields = {"replica_id": -1, "max_bytes": 1024, "session_epoch": 0}
    fields["topics"] = [{"topic": TOPIC, "partitions": [partition]}]
    for _ in range(n):
        asker.ask("fetch", 12, fields)


def acls(cluster: Cluster, n: int) -> None:
    """n ACLs, a third of them prefixed, and two that allow the requests."""
    cluster.authorizer = Authorizer(frozenset(), by_default=False)
    given = [
        f"user-{number % 500} allow read on topic:topic-{number}{'*' * (not number % 3)}"
        for number in range(n)
    ]
    mine = f"ANONYMOUS allow all on topic:{TOPIC}", f"ANONYMOUS allow all on group:{GROUP}"
    for each in (*given, *mine):
        for acl in text.read(each):
            cluster.controller.create_acl(acl)


def _joining(group: str, member_id: str = "") -> Fields:
    return {
        "group_id": group,
        "session_timeout": _DAY_MS,
        "rebalance_timeout": _DAY_MS,
        "member_id": member_id,
        "protocol_type": "consumer",
        "protocols": [{"name": "range", "metadata": b""}],
    }


def _join(asker: Asker, group: str) -> str:
    """The member id that is given."""
    return str(asker.ask("join_group", 5, _joining(group))["member_id"])


def _joined(asker: Asker, group: str, member_id: str) -> Fields:
    joined = asker.ask("join_group", 5, _joining(group, member_id))
    return {"group_id": group, "member_id": member_id, "generation_id": joined["generation_id"]}


def _commit(member: Fields) -> Fields:
    partition = {"partition_index": 0, "committed_offset": 1, "committed_metadata": ""}
    return {
        "group_id": member["group_id"],
        "member_id": member["member_id"],
        "generation_id_or_member_epoch": member["generation_id"],
        "topics": [{"name": TOPIC, "partitions": [partition]}],
    }


def _in_cluster(grow: Callable[[Cluster, int], Fields | None]) -> Callable[[int], Grown]:
    return lambda n: Grown(lambda cluster: grow(cluster, n))


MADE: Final[dict[str, Callable[[Cluster, int], Fields | None]]] = {
    each.__name__: each for each in (topics, partitions, groups, members, producers, sessions)
}
KINDS: Final[dict[str, Callable[[int], Grown]]] = {
    **{name: _in_cluster(grow) for name, grow in MADE.items()},
    "acls": _in_cluster(acls),
    "connections": lambda n: Grown(connections=n),
}


def cost(kind: str, request: str, n: int) -> int:
    """Bytecode instructions of the request where there are n of a kind."""
    return measure(request, KINDS[kind](n)).opcodes


def not_flat(costs: Iterable[int]) -> bool:
    few, many = costs
    return many > FLAT * few


def plot(kinds: Sequence[str], sizes: Sequence[int]) -> str:
    """A line for each request: its instructions with so many of each kind, the most of all kinds."""
    lines = [[max(cost(kind, request, n) for kind in kinds) for n in sizes] for request in ROWS]
    top = max(map(max, lines)) * 11 // 10
    drawn = "\n".join(f"  line {costs}" for costs in lines)
    return f"""xychart-beta
  title "What a request costs as the cluster grows"
  x-axis "of each: {", ".join(kinds)}" {list(sizes)}
  y-axis "bytecode instructions" 0 --> {top}
{drawn}
"""


def _powers_of_ten(few: int, many: int) -> list[int]:
    sizes = [few]
    while sizes[-1] * 10 <= many:
        sizes.append(sizes[-1] * 10)
    return sizes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--few", type=int, default=FEW)
    parser.add_argument("--many", type=int, default=MANY)
    parser.add_argument("--only", default=",".join(KINDS), help="kinds, comma-separated")
    parser.add_argument("--plot", action="store_true", help="a plot in the language of Mermaid instead")
    given = parser.parse_args()
    # Both ends of each connection are in this process.
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    kinds, sizes = given.only.split(","), (given.few, given.many)
    out = sys.stdout.write
    if given.plot:
        out(plot(kinds, _powers_of_ten(*sizes)))
        return
    out(f"Bytecode instructions of a request with {given.few:,} and {given.many:,} of each.\n")
    steep = []
    for kind in kinds:
        for request in ROWS:
            costs = [cost(kind, request, n) for n in sizes]
            flat = not not_flat(costs)
            out(f"{kind:<12} {request:<24}{costs[0]:>8,}{costs[1]:>10,}{costs[1] / costs[0]:>6.2f}\n")
            if not flat:
                steep.append(f"{request} with {kind}")
    if steep:
        out(f"not flat: {', '.join(steep)}\n")
        raise SystemExit(1)


if __name__ == "__main__":
    main()
