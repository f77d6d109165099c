"""What other mocks can do, as `docs/faults.md` says it here: each row is run."""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest

from mockbroker import MockCluster

from ..driving import wire
from ..driving.asking import Asking
from ..driving.clients import raw_client
from ..driving.tables import rows, run_row

ROWS = {**rows("faults.md", "librdkafka's mock cluster:"), **rows("faults.md", "kfake:")}


@pytest.fixture
def cluster() -> Iterator[MockCluster]:
    config = {"default.replication.factor": "3"}
    with MockCluster(topics={"orders": 3}, config=config) as running:
        yield running


CHECKS: dict[str, Callable[[Asking, Any], None]] = {}


def check(function: Callable[[Asking, Any], None]) -> Callable[[Asking, Any], None]:
    CHECKS[function.__name__] = function
    return function


OTHERWISE = "UNKNOWN_MEMBER_ID"
"""What a heartbeat gets where nothing goes wrong."""


@check
def rd_kafka_mock_push_request_errors(asking: Asking, made: Any) -> None:
    seen = [asking.heartbeat() for _ in range(4)]
    assert seen[::2] == ["NOT_COORDINATOR", "REBALANCE_IN_PROGRESS"]
    assert not set(seen[1::2]) & set(seen[::2])


@check
def rd_kafka_mock_broker_push_request_error_rtts(asking: Asking, made: Any) -> None:
    assert asking.heartbeat(1) == "NOT_COORDINATOR"
    assert made.hits == 1


@check
def rd_kafka_mock_clear_request_errors(asking: Asking, made: Any) -> None:
    asking.coordinator()
    assert asking.heartbeat(asking.coordinator()) == OTHERWISE


@check
def rd_kafka_mock_topic_set_error(asking: Asking, made: Any) -> None:
    answer = asking.ask("metadata", 9, topics=[{"name": "orders"}])
    assert answer["topics"][0]["error_code"] == "TOPIC_AUTHORIZATION_FAILED"


@check
def rd_kafka_mock_partition_set_leader(asking: Asking, made: Any) -> None:
    assert asking.leaders()[0] == 3


@check
def rd_kafka_mock_partition_set_follower(asking: Asking, made: Any) -> None:
    partition = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 100}
    topics = [{"topic": "orders", "partitions": [partition]}]
    answer = asking.ask("fetch", 11, replica_id=-1, max_bytes=100, topics=topics)
    assert answer["responses"][0]["partitions"][0]["preferred_read_replica"] == 2


@check
def rd_kafka_mock_partition_push_leader_response(asking: Asking, made: Any) -> None:
    assert [asking.leaders()[0] for _ in range(2)] == [2, 1]


@check
def rd_kafka_mock_broker_set_down(asking: Asking, made: Any) -> None:
    assert not asking.is_up(1)
    assert asking.leaders() == [2, 2, 3]


@check
def rd_kafka_mock_broker_set_up(asking: Asking, made: Any) -> None:
    assert asking.is_up(1)


@check
def rd_kafka_mock_broker_set_rtt(asking: Asking, made: Any) -> None:
    asking.heartbeat(2)
    assert made.hits == 0
    asking.heartbeat(1)
    assert made.hits == 1


@check
def rd_kafka_mock_coordinator_set(asking: Asking, made: Any) -> None:
    assert asking.coordinator() == 3


@check
def rd_kafka_mock_start_request_tracking(asking: Asking, made: Any) -> None:
    asking.heartbeat(1)
    asking.heartbeat(2)
    assert made.hits == 2


@check
def Fault(asking: Asking, made: Any) -> None:  # noqa: N802
    asking.ask("heartbeat", 3, group_id="other")
    assert made.hits == 0
    assert [asking.heartbeat() == "REBALANCE_IN_PROGRESS" for _ in range(2)] == [True, False]


@check
def Resource(asking: Asking, made: Any) -> None:  # noqa: N802
    names = ("orders", "other")
    resources = [{"resource_type": 2, "resource_name": each, "configuration_keys": []} for each in names]
    results = asking.ask("describe_configs", 3, resources=resources)["results"]
    told = {each["resource_name"]: each["error_code"] for each in results}
    assert told == {"orders": "TOPIC_AUTHORIZATION_FAILED", "other": "UNKNOWN_TOPIC_OR_PARTITION"}


@check
def TopicID(asking: Asking, made: Any) -> None:  # noqa: N802
    topic_id = UUID(bytes=base64.urlsafe_b64decode(asking.cluster.topic("orders").topic_id + "=="))
    by_name = asking.ask("metadata", 12, topics=[{"name": "orders"}])
    by_id = asking.ask("metadata", 12, topics=[{"topic_id": topic_id, "name": None}])
    assert [each["topics"][0]["error_code"] for each in (by_name, by_id)] == ["NONE", "UNKNOWN_TOPIC_ID"]


@check
def When(asking: Asking, made: Any) -> None:  # noqa: N802
    assert [asking.heartbeat() for _ in range(2)] == ["REBALANCE_IN_PROGRESS"] * 2


@check
def Observe(asking: Asking, made: Any) -> None:  # noqa: N802
    assert asking.heartbeat(asking.coordinator()) == OTHERWISE
    assert made.hits == 1


@check
def ControlKey(asking: Asking, made: Any) -> None:  # noqa: N802
    seen = [asking.heartbeat(each) == "NOT_COORDINATOR" for each in (asking.coordinator(),) * 2]
    assert seen == [True, False]


@check
def KeepControl(asking: Asking, made: Any) -> None:  # noqa: N802
    assert [asking.heartbeat() for _ in range(3)] == ["NOT_COORDINATOR"] * 3


@check
def DropControl(asking: Asking, made: Any) -> None:  # noqa: N802
    assert asking.heartbeat(asking.coordinator()) == OTHERWISE


@check
def SleepControl(asking: Asking, made: Any) -> None:  # noqa: N802
    with raw_client(asking.cluster) as client:
        pending = client.send("heartbeat", 3, {"group_id": "billing"})
        made.wait()
        assert made.held == 1
        made.release()
        assert client.receive(pending)["error_code"] != "NONE"


@check
def SleepOutOfOrder(asking: Asking, made: Any) -> None:  # noqa: N802
    heartbeat = struct.pack(">h7sih", 7, b"billing", 0, 0)
    with raw_client(asking.cluster) as client:
        # Both at once: the first answer waits a second for the next one, no longer.
        client.send_bytes(wire.request(12, 0, heartbeat, 1) + wire.api_versions(correlation_id=2))
        assert [int.from_bytes(client.read_frame()[:4]) for _ in range(2)] == [2, 1]


@check
def CurrentNode(asking: Asking, made: Any) -> None:  # noqa: N802
    asking.heartbeat(2)
    assert made.hits == 0
    assert asking.heartbeat(1) == "NOT_COORDINATOR"


@check
def SetFollowers(asking: Asking, made: Any) -> None:  # noqa: N802
    rd_kafka_mock_partition_set_follower(asking, made)


@check
def MoveTopicPartition(asking: Asking, made: Any) -> None:  # noqa: N802
    assert asking.leaders()[0] == 3


@check
def ShufflePartitionLeaders(asking: Asking, made: Any) -> None:  # noqa: N802
    assert asking.leaders() == [2, 3, 1]


@check
def RehashCoordinators(asking: Asking, made: Any) -> None:  # noqa: N802
    assert made in (1, 2, 3)


@check
def RemoveNode(asking: Asking, made: Any) -> None:  # noqa: N802
    assert not asking.is_up(1)


@check
def AddNode(asking: Asking, made: Any) -> None:  # noqa: N802
    assert asking.is_up(1)


def test_every_row_has_a_check() -> None:
    assert list(ROWS) == list(CHECKS)


@pytest.mark.parametrize("row", ROWS)
def test_a_row(cluster: MockCluster, row: str) -> None:
    CHECKS[row](Asking(cluster), run_row(ROWS[row], cluster=cluster))
