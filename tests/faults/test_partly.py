"""A fault that refuses some of what a request names leaves the rest of it to the broker."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from mockbroker.apis.registry import REGISTERED
from mockbroker.cluster.replicas import describe
from mockbroker.faults import Faults
from mockbroker.faults.answers import refuses
from mockbroker.faults.places import levels
from mockbroker.rig.batches import Record, batch
from mockbroker.rig.client import kio_versions, known_fields
from tests.driving.cluster import a_cluster, create
from tests.driving.in_memory import InMemoryClient

from .test_errors import CODE, REQUESTS, by_id, codes, fitting
from .test_resources import TWO

ALL_OR_NOTHING = {"add_partitions_to_txn"}
WHAT_A_SESSION_HAS = {"fetch", "share_fetch"}
WITH_RECORDS = {"produce"}
REFUSED_AS_A_WHOLE = {"offset_delete", "share_acknowledge", "update_features"}
"""Without a group, a session or a feature of that name."""

NOT_ALONE = ALL_OR_NOTHING | WHAT_A_SESSION_HAS | WITH_RECORDS | REFUSED_AS_A_WHOLE


def doubled(value: Any) -> Any:
    """The same for two partitions where it is for one."""
    if isinstance(value, dict):
        return {name: doubled(inner) for name, inner in value.items()}
    if value == (0,):
        return (0, 1)
    if isinstance(value, list) and value and isinstance(value[0], dict) and "partition_index" in value[0]:
        return [value[0], dict.fromkeys(value[0], 1)]
    return [doubled(inner) for inner in value] if isinstance(value, list) else value


def by_partition(value: Any) -> Iterator[tuple[int, Any]]:
    if isinstance(value, dict):
        for name in ("index", "partition_index", "partition", "partition_id"):
            if name in value and any(each.endswith("error_code") for each in value):
                yield value[name], value
                return
        for inner in value.values():
            yield from by_partition(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from by_partition(inner)


def asked(api: str, version: int, request: Any, **fault: Any) -> Any:
    """The answer of a fresh cluster, with an error in place of the work or without one."""
    cluster = a_cluster(brokers=1)
    create(cluster, "t", partitions=2)
    faults = Faults(cluster)
    if fault:
        faults.add("error", error=CODE, api=api, **fault)
    given = fitting(by_id(request, cluster.topics["t"].id), known_fields(api))
    return InMemoryClient(cluster, 1, faults).call(api, version, given)


def of_partitions() -> Iterator[str]:
    for key in sorted(REGISTERED):
        if refuses(key) and "partition" in levels(key) and key.name.lower() in REQUESTS:
            yield key.name.lower()


@pytest.mark.parametrize(
    "api",
    sorted(set(of_partitions()) - NOT_ALONE),
)
def test_the_other_partition_is_answered_as_without_the_fault(api: str) -> None:
    version, request = kio_versions(api)[-1], doubled(REQUESTS[api])
    without = dict(by_partition(asked(api, version, request)))
    found = dict(by_partition(asked(api, version, request, partition=1)))
    assert list(codes(found[1])) == [CODE]
    assert found[0] == without[0]


@pytest.mark.parametrize("api", sorted(set(TWO) - REFUSED_AS_A_WHOLE))
def test_the_other_resource_is_answered_as_without_the_fault(api: str) -> None:
    version, request = TWO[api]
    without, found = asked(api, version, request), asked(api, version, request, resource="b")
    within = [
        [one for each in answer.values() if isinstance(each, list) for one in each]
        for answer in (without, found)
    ]
    assert [CODE in codes(each) for each in within[1]] == [False, True]
    assert within[1][0] == within[0][0]


@pytest.mark.parametrize("api", sorted(REFUSED_AS_A_WHOLE))
def test_a_request_that_the_broker_refuses_as_a_whole(api: str) -> None:
    version, request = TWO[api] if api in TWO else (kio_versions(api)[-1], doubled(REQUESTS[api]))
    without = asked(api, version, request)
    assert without["error_code"] != "NONE"
    assert asked(api, version, request, **({"resource": "b"} if api in TWO else {"partition": 1})) == without


class OneBroker:
    def __init__(self, **fault: Any) -> None:
        self.cluster = a_cluster(brokers=1)
        create(self.cluster, "t", partitions=3)
        self.faults = Faults(self.cluster)
        self.faults.add("error", error=CODE, **fault)
        self.client = InMemoryClient(self.cluster, 1, self.faults)

    def ends(self) -> list[int]:
        return [describe(each)[0].log_end_offset for each in self.cluster.topics["t"].partitions]

    def produce(self, partitions: list[int], acks: int = -1) -> list[tuple[int, str, int]]:
        data = [{"index": each, "records": batch([Record(b"v")])} for each in partitions]
        topics = [{"name": "t", "partition_data": data}]
        answer = self.client.call("produce", 9, {"acks": acks, "timeout": 1000, "topic_data": topics})
        return [
            (each["index"], each["error_code"], each["base_offset"])
            for each in answer["responses"][0]["partition_responses"]
        ]


def test_what_is_acknowledged_is_in_the_log() -> None:
    one = OneBroker(api="Produce", partition=1)
    assert one.produce([0, 1, 2]) == [(0, "NONE", 0), (1, CODE, -1), (2, "NONE", 0)]
    assert one.ends() == [1, 0, 1]


def test_what_is_named_twice_is_answered_once_as_without_the_fault() -> None:
    """Where the broker does so."""
    one = OneBroker(api="Produce", partition=1)
    assert one.produce([2, 2]) == [(2, "NONE", 0)]
    assert one.produce([2, 1, 2]) == [(2, "NONE", 1), (1, CODE, -1)]


def test_several_faults_refuse_a_partition_each() -> None:
    one = OneBroker(api="Produce", partition=1)
    one.faults.add("error", error="NOT_ENOUGH_REPLICAS", api="Produce", partition=0)
    assert one.produce([0, 1, 2]) == [(0, "NOT_ENOUGH_REPLICAS", -1), (1, CODE, -1), (2, "NONE", 0)]
    one.faults.add("error", error="NOT_ENOUGH_REPLICAS", api="Produce", partition=2)
    assert [each[1] for each in one.produce([0, 1, 2])] == [
        "NOT_ENOUGH_REPLICAS",
        CODE,
        "NOT_ENOUGH_REPLICAS",
    ]
    assert one.ends() == [0, 0, 1]


def test_no_partition_is_added_to_a_transaction_where_one_is_refused() -> None:
    """As KafkaApis.handleAddPartitionsToTxnRequest."""
    one = OneBroker(api="AddPartitionsToTxn", partition=1)
    producer = one.client.call(
        "init_producer_id",
        4,
        {"transactional_id": "x", "transaction_timeout": 1000, "producer_id": -1, "producer_epoch": -1},
    )
    answer = one.client.call(
        "add_partitions_to_txn",
        3,
        {
            "v3_and_below_transactional_id": "x",
            "v3_and_below_producer_id": producer["producer_id"],
            "v3_and_below_producer_epoch": producer["producer_epoch"],
            "v3_and_below_topics": [{"name": "t", "partitions": (0, 1)}],
        },
    )
    assert [each["partition_error_code"] for _, each in by_partition(answer)] == [
        "OPERATION_NOT_ATTEMPTED",
        CODE,
    ]
    transaction = one.cluster.brokers[1].transactions.find("x")
    assert transaction is not None
    assert not transaction.partitions
