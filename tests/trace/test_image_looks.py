"""What is told of brokers that have not learned of everything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mockbroker import MockCluster
from mockbroker.trace.files import read_json_lines


def last(cluster: MockCluster) -> dict[str, Any]:
    return cluster.trace.events("image", broker=2)[-1].row()


def test_what_a_broker_knows_otherwise_than_the_controller(tmp_path: Path) -> None:
    topics = {"gone": 1, "orders": 2}
    with MockCluster(topics=topics, trace=True) as cluster:
        leader = cluster.topic("orders").partitions[0].leader
        cluster.cut_off(2, from_=["controller"])
        assert not cluster.trace.events("image")
        cluster.move_leader("orders", 0, to=next(each for each in (1, 3) if each != leader))
        assert last(cluster)["missing"] > 0
        assert list(last(cluster)["known"]) == [("orders", 0, leader, 0)]
        cluster.create_topic("new", partitions=1)
        assert ("new", 0, -1, -1) in last(cluster)["known"]
        owner = cluster.topic("gone").partitions[0].leader
        cluster.delete_topic("gone")
        assert ("gone", 0, owner, 0) in last(cluster)["known"]
        cluster.rejoin(2)
        assert (last(cluster)["missing"], last(cluster)["known"]) == (0, ())
        told = cluster.trace.events("image")
        cluster.trace.write(tmp_path / "trace.jsonl")
    written = [each for each in read_json_lines(tmp_path / "trace.jsonl") if each.kind == "image"]
    assert [each.row() for each in written] == [each.row() for each in told]


def test_a_broker_that_is_down_knows_nothing() -> None:
    with MockCluster(topics={"orders": 1}, trace=True) as cluster:
        cluster.cut_off(2, from_=["controller"])
        cluster.create_topic("new", partitions=1)
        assert last(cluster)["missing"] > 0
        cluster.kill_broker(2)
        assert last(cluster)["missing"] == 0
