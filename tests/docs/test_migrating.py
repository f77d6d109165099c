"""What kfake's cluster can do, as `docs/migrating.md` says it here: each row is run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from mockbroker import MockCluster, NotThereError

from ..driving.polling import PollingConsumer
from ..driving.tables import rows, run_row

ROWS = rows("migrating.md", "three partitions, of which partition 0 has a record:")


@pytest.fixture
def cluster() -> Iterator[MockCluster]:
    config = {"default.replication.factor": "3", "group.initial.rebalance.delay.ms": "0"}
    with MockCluster(topics={"orders": 3}, config=config) as running:
        running.produce("orders", "order 1", partition=0)
        yield running


@pytest.fixture
def join(cluster: MockCluster) -> Iterator[Callable[[str], None]]:
    """Has a consumer join a group."""
    members = list[PollingConsumer]()
    yield lambda group: members.append(PollingConsumer(cluster, group))
    for each in members:
        each.leave()


def _gone(cluster: MockCluster, _: Any) -> bool:
    with pytest.raises(NotThereError):
        cluster.topic("orders")
    return True


CHECKS: dict[str, Callable[[MockCluster, Any], object]] = {
    "ApplyRetention": lambda cluster, _: cluster.topic("orders").partitions[0].log_start_offset == 1,
    "Compact": lambda cluster, _: [each.value for each in cluster.records("prices")] == [b"3", b"0"],
    "CoordinatorFor": lambda _, broker: broker in (1, 2, 3),
    "CreateTopic": lambda _, topic: len(topic.partitions) == 6,
    "DeleteRecords": lambda cluster, low: low == 1 and not cluster.records("orders"),
    "DeleteTopic": _gone,
    "GroupInfo": lambda _, made: made[0].state == "Empty" and made[1]["orders", 0].offset == 1,
    "LeaderFor": lambda _, leader: leader in (1, 2, 3),
    "PartitionInfo": lambda _, partition: partition.high_watermark == 1,
    "PartitionInfos": lambda _, partitions: [each.log_end_offset for each in partitions] == [1, 0, 0],
    "SetGroupConfigs": lambda cluster, _: (
        cluster.run(lambda core: core.configs.groups["billing"]["consumer.session.timeout.ms"]) == "50000"
    ),
    "TopicIDInfo": lambda _, topic: topic.name == "orders",
    "TopicInfo": lambda _, topic: len(topic.partitions) == 3,
    "WaitGroupInfo": lambda _, group: group.members == (),
    "WaitGroupStable": lambda _, group: [len(each.assignment) for each in group.members] == [3],
}


def test_every_row_has_a_check() -> None:
    assert list(ROWS) == list(CHECKS)


@pytest.mark.parametrize("row", ROWS)
def test_a_row(cluster: MockCluster, join: Callable[[str], None], row: str) -> None:
    assert CHECKS[row](cluster, run_row(ROWS[row], cluster=cluster, join=join))
