"""What it costs a coordinator when many members join a consumer group (KIP-848), and when one leaves.

Members send their heartbeats over one connection, in rounds: one each in a heartbeat interval, of time that
the benchmark moves. They join in groups of 100, 100 ms apart.

`python -m benchmarks.rebalancing --members 1000,5000`
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from benchmarks.apis import Broker
from benchmarks.members import GroupMember
from benchmarks.wire import Connection, WrongAnswerError
from mockbroker import MockCluster
from mockbroker.cluster_options import unchecked

GROUP: Final = "crowd"
TOPIC: Final = "orders"
INTERVAL_MS: Final = 5_000
"""`group.consumer.heartbeat.interval.ms` of brokers."""
_TOGETHER: Final = 100
_MOST: Final = 50
"""A group that has not settled after so many intervals never will."""


class Step(NamedTuple):
    """CPU seconds of the broker, and the heartbeat intervals until the group had settled."""

    cpu: float
    intervals: int


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--members", default="1000,5000", help="How many; one run each.")
    parser.add_argument("--kafka", default="4.4")
    parser.add_argument("--assignor", default="uniform")
    given = parser.parse_args()
    for count in given.members.split(","):
        joined, left = measure(int(count), given.kafka, given.assignor)
        for what, step in (("members join", joined), ("members, one leaves", left)):
            sys.stdout.write(
                f"{count} {what}: {step.cpu:.2f} s of CPU, settled after {step.intervals} intervals\n"
            )


def measure(count: int, kafka: str = "4.4", assignor: str = "uniform") -> tuple[Step, Step]:
    """The cost when so many members join, and when one of them leaves. There are as many partitions."""
    config = {"group.consumer.max.size": str(count)}
    with MockCluster(brokers=1, kafka=unchecked(kafka), clock="manual", config=config) as cluster:
        cluster.create_topic(TOPIC, partitions=count)
        broker = Broker(cluster.bootstrap_servers)
        members = [GroupMember(broker, GROUP, f"member-{number}", TOPIC, assignor) for number in range(count)]
        with broker.connect() as connection:
            broker.coordinator(connection, GROUP)
            began = _cpu(cluster)
            for some in _hundreds(members):
                _round(connection, some)
                cluster.clock.advance("100ms")
            intervals = _settle(cluster, connection, members, count, count - 1)
            joined = Step(_cpu(cluster) - began, intervals)
            began = _cpu(cluster)
            gone = members.pop(count // 2)
            connection.call(gone.leaving())
            intervals = _settle(cluster, connection, members, count, gone.epoch)
            left = Step(_cpu(cluster) - began, intervals)
    return joined, left


def _settle(
    cluster: MockCluster, connection: Connection, members: list[GroupMember], partitions: int, epoch: int
) -> int:
    """The intervals until all members are in an epoch after `epoch`, and no heartbeat changes anything any
    more. WrongAnswerError if a partition then has no owner, or two."""
    for intervals in range(_MOST):
        before = [(each.epoch, each.owned) for each in members]
        for some in _hundreds(members):
            _round(connection, some)
        cluster.clock.advance(f"{INTERVAL_MS}ms")
        after = [(each.epoch, each.owned) for each in members]
        if before == after and len({each.epoch for each in members}) == 1 and members[0].epoch > epoch:
            owned = [each for member in members for each in member.owned]
            if len(owned) != len(set(owned)) or len(owned) != partitions:
                raise WrongAnswerError(f"{len(owned)} partitions are owned, of {partitions}")
            return intervals
    raise WrongAnswerError(f"the group has not settled after {_MOST} heartbeats of each member")


def _cpu(cluster: MockCluster) -> float:
    """Seconds of the cluster's thread."""
    return cluster.run(lambda _: time.thread_time())


def _hundreds(members: Sequence[GroupMember]) -> Iterator[Sequence[GroupMember]]:
    for begin in range(0, len(members), _TOGETHER):
        yield members[begin : begin + _TOGETHER]


def _round(connection: Connection, members: Sequence[GroupMember]) -> None:
    for member in members:
        member.heard(connection.call(member.heartbeat()))


if __name__ == "__main__":
    main()
