"""What members of consumer groups (KIP-848) are told instead of their assignment, or besides it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mockbroker import MockCluster
from mockbroker.faults import FaultError, parse
from mockbroker.names import FaultAction
from mockbroker.scenario.scenario import load

from ..control.asking import ask
from ..driving.clients import raw_client

AT_ONCE = {"group.consumer.assignment.interval.ms": "0", "offsets.topic.num.partitions": "1"}
HEARTBEAT = "consumer_group_heartbeat"
Told = dict[str, list[int]] | None


class Group:
    """Members that send heartbeats by hand."""

    def __init__(self, cluster: MockCluster) -> None:
        self.cluster = cluster
        self.epochs: dict[str, int] = {}

    def beat(self, member: str, epoch: int | None = None, **more: Any) -> Told:
        """What the member is told to own, None if nothing is said of that."""
        epoch = self.epochs.get(member, 0) if epoch is None else epoch
        fields: dict[str, Any] = {"group_id": "billing", "member_id": member, "member_epoch": epoch, **more}
        if not epoch:
            fields |= {
                "rebalance_timeout": 60_000,
                "subscribed_topic_names": ["orders"],
                "topic_partitions": [],
            }
        with raw_client(self.cluster, client_id=f"client-of-{member}") as client:
            answer = client.call(HEARTBEAT, 1, fields)
        assert answer["error_code"] in (0, "NONE"), answer
        self.epochs[member] = answer["member_epoch"]
        told = answer["assignment"]
        return None if told is None else {"orders": sorted(self._partitions(told))}

    @staticmethod
    def _partitions(told: Any) -> list[int]:
        return [index for topic in told["topic_partitions"] for index in topic["partitions"]]

    def kept(self, member: str) -> int:
        """How many partitions the coordinator believes the member to have."""
        return len(
            next(m for m in self.cluster.group("billing").members if m.member_id == member).assignment or ()
        )


@pytest.fixture
def group() -> Iterator[Group]:
    with MockCluster(brokers=1, topics={"orders": 4}, config=AT_ONCE, control=True) as cluster:
        yield Group(cluster)


def test_an_assignment_that_is_withheld(group: Group) -> None:
    fault = group.cluster.faults.add("withhold-assignment", group="bill*", times=1)
    assert group.beat("a") is None
    assert (fault.hits, group.epochs["a"] > 0, group.kept("a")) == (1, True, 4)
    assert group.beat("a") is None
    assert group.beat("a", 0) == {"orders": [0, 1, 2, 3]}


def test_only_answers_with_an_assignment_count(group: Group) -> None:
    assert group.beat("a") == {"orders": [0, 1, 2, 3]}
    fault = group.cluster.faults.add("withhold-assignment", optional=True)
    assert group.beat("a") is None
    assert fault.hits == 0
    assert fault.why == "the answer has no assignment"


def test_another_assignment(group: Group) -> None:
    fault = group.cluster.faults.add("replace-assignment", assignment={"orders": [3, 1]}, times=2)
    assert group.beat("a") == {"orders": [1, 3]}
    assert group.beat("a") == {"orders": [1, 3]}
    assert (fault.hits, group.kept("a")) == (2, 4)
    assert group.beat("a") is None


def test_no_partition_at_all(group: Group) -> None:
    group.cluster.faults.add("replace-assignment", assignment={}, times=1)
    assert group.beat("a") == {"orders": []}


def test_a_topic_that_is_not_there(group: Group) -> None:
    fault = group.cluster.faults.add("replace-assignment", assignment={"orderz": [0]}, optional=True)
    assert group.beat("a") == {"orders": [0, 1, 2, 3]}
    assert fault.why == "there is no topic 'orderz'"


def test_partitions_of_others(group: Group) -> None:
    group.beat("a")
    fault = group.cluster.faults.add("share-assignment", client_id="client-of-b")
    assert group.beat("b") == {"orders": [0, 1, 2, 3]}
    assert group.kept("b") == 0
    assert group.beat("b") == {"orders": [0, 1, 2, 3]}
    assert fault.hits == 2


@pytest.mark.parametrize(("member", "hits"), [("a", 1), ("client-of-a", 1), ("c", 0), ("client-of-b", 0)])
def test_partitions_of_one_other(group: Group, member: str, hits: int) -> None:
    group.beat("a")
    fault = group.cluster.faults.add(
        "share-assignment", client_id="client-of-b", member=member, optional=True
    )
    told = group.beat("b")
    assert (fault.hits, told) == (hits, {"orders": [0, 1, 2, 3] if hits else []})
    assert fault.why == ("" if hits else "no other member has partitions")


@pytest.mark.parametrize("do", ["withhold-assignment", "share-assignment"])
def test_other_answers_stay(group: Group, do: FaultAction) -> None:
    """Those to other requests, to who leaves, and errors."""
    fault = group.cluster.faults.add(do, optional=True)
    with raw_client(group.cluster) as client:
        client.call("metadata", 9, {"topics": []})
        assert "ConsumerGroupHeartbeat" in fault.why
        fields = {"group_id": "billing", "member_id": "x", "member_epoch": 7}
        assert client.call(HEARTBEAT, 1, fields)["assignment"] is None
        assert fault.why == "the answer is not that of a member"
    assert fault.hits == 0


def test_over_http(group: Group) -> None:
    given = {"do": "replace-assignment", "assignment": {"orders": [2]}, "times": 1}
    assert group.cluster.control_url is not None
    assert ask("POST", f"{group.cluster.control_url}/faults", given)[0] == 200
    assert group.beat("a") == {"orders": [2]}


def test_in_a_scenario(tmp_path: Path) -> None:
    file = tmp_path / "scenario.toml"
    file.write_text('[[fault]]\ndo = "replace-assignment"\nassignment = { orders = [2] }\n')
    (fault,) = load(file).faults
    assert fault.given["assignment"] == {"orders": [2]}


@pytest.mark.parametrize(
    "given",
    [
        {"do": "withhold-assignment"},
        {"do": "share-assignment", "api": "ConsumerGroupHeartbeat"},
        {"do": "replace-assignment", "assignment": {}},
    ],
)
def test_no_broker_does_so(given: dict[str, Any]) -> None:
    assert parse(given).illegal.startswith("a coordinator ")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"do": "withhold-assignment", "api": "Heartbeat"}, "this is for api='ConsumerGroupHeartbeat'"),
        ({"do": "share-assignment", "member": 7}, "member is 7: give a client id, or a member id"),
        ({"do": "replace-assignment"}, "replace-assignment needs 'assignment'"),
        ({"do": "replace-assignment", "assignment": "orders"}, "give lists of partitions by topic"),
        ({"do": "replace-assignment", "assignment": {"orders": 0}}, "give lists of partitions by topic"),
        ({"do": "replace-assignment", "assignment": {"orders": [-1]}}, "give lists of partitions by topic"),
        ({"do": "replace-assignment", "assignment": {"orders": [True]}}, "give lists of partitions by topic"),
    ],
)
def test_what_can_not_be(given: dict[str, Any], said: str) -> None:
    with pytest.raises(FaultError, match=said):
        parse(given)
