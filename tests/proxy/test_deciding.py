"""Behaviours that are decided in the proxy; a mock is the cluster behind it."""

from typing import Any

import pytest
from confluent_kafka import KafkaException, Producer

from mockbroker import MockCluster, MockProxy, UnknownPolicyError, UpstreamError
from mockbroker.protocol.answers import answer_codec
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.describe_producers import (
    DescribeProducersResponse,
    PartitionResponse,
    TopicResponse,
)
from mockbroker.protocol.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from mockbroker.protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)
from mockbroker.rig.batches import batch
from mockbroker.rig.client import Client

from ..driving.clients import raw_client
from .between import Between, behind, request, taken

PRODUCER = 5
OUT_OF_ORDER = "OUT_OF_ORDER_SEQUENCE_NUMBER"
DUPLICATE = "DUPLICATE_SEQUENCE_NUMBER"
UNKNOWN = "UNKNOWN_PRODUCER_ID"
FENCED_EPOCH, FENCED = "INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED"


def produced(client: Client, version: int = 12, **sequences: int) -> dict[str, dict[str, Any]]:
    """Sends a batch of one record of the producer to each partition, such as orders_0."""
    topics: dict[str, list[dict[str, Any]]] = {}
    for place, sequence in sequences.items():
        topic, _, index = place.partition("_")
        records = batch(1, producer_id=PRODUCER, producer_epoch=0, sequence=sequence)
        topics.setdefault(topic, []).append({"index": int(index), "records": records})
    answer = client.call(
        "produce",
        version,
        {
            "transactional_id": None,
            "acks": -1,
            "timeout": 10_000,
            "topic_data": [{"name": name, "partition_data": each} for name, each in topics.items()],
        },
    )
    return {
        f"{topic['name']}_{each['index']}": each
        for topic in answer["responses"]
        for each in topic["partition_responses"]
    }


def code(client: Client, sequence: int, place: str = "orders_0") -> str:
    return str(produced(client, **{place: sequence})[place]["error_code"])


def end_of(client: Client, epoch: int, version: int = 4, topic: str = "orders") -> tuple[str, int, int]:
    asked = {"partition": 0, "current_leader_epoch": 0, "leader_epoch": epoch}
    answer = client.call(
        "offset_for_leader_epoch",
        version,
        {"replica_id": -1, "topics": [{"topic": topic, "partitions": [asked]}]},
    )
    (found,) = answer["topics"][0]["partitions"]
    return found["error_code"], found["leader_epoch"], found["end_offset"]


# -- undefined-epoch


def test_an_epoch_above_all_ends_where_the_log_does() -> None:
    with behind({"undefined-epoch": "log-end-offset"}) as (_, client):
        assert [code(client, each) for each in range(3)] == ["NONE"] * 3
        assert end_of(client, 9) == ("NONE", 0, 3)
        assert end_of(client, 0) == ("NONE", 0, 3)
        assert end_of(client, 9, version=2) == ("NONE", 0, 3)


@pytest.mark.parametrize("policies", [{}, {"undefined-epoch": "undefined"}], ids=["none", "undefined"])
def test_an_epoch_above_all_is_not_known_otherwise(policies: dict[str, Any]) -> None:
    with behind(policies) as (_, client):
        assert code(client, 0) == "NONE"
        assert end_of(client, 9) == ("NONE", -1, -1)


def test_a_cluster_that_knows_an_end_can_be_made_not_to() -> None:
    upstream = {"undefined-epoch": "log-end-offset"}
    with behind({"undefined-epoch": "undefined"}, policies=upstream) as (_, client):
        assert code(client, 0) == "NONE"
        assert end_of(client, 9) == ("NONE", -1, -1)


def test_an_answer_for_one_topic_leaves_others_alone() -> None:
    with behind({"undefined-epoch@topic:orders": "log-end-offset"}) as (_, client):
        assert end_of(client, 9) == ("NONE", 0, 0)
        assert end_of(client, 9, topic="others") == ("NONE", -1, -1)


def test_an_answer_may_be_a_function() -> None:
    with behind({"undefined-epoch": lambda latest, end: (latest, end // 2)}) as (_, client):
        assert [code(client, each) for each in range(4)] == ["NONE"] * 4
        assert end_of(client, 9) == ("NONE", 0, 2)


def test_an_error_stays() -> None:
    with behind({"undefined-epoch": "log-end-offset"}) as (_, client):
        assert end_of(client, 9, topic="nowhere") == ("UNKNOWN_TOPIC_OR_PARTITION", -1, -1)


# -- unknown-producer


@pytest.mark.parametrize(
    ("answer", "error"),
    [("unknown-producer-id", UNKNOWN), ("out-of-order-sequence-number", OUT_OF_ORDER)],
)
def test_a_batch_of_a_forgotten_producer_is_refused(answer: str, error: str) -> None:
    with behind({"unknown-producer": answer}) as (cluster, client):
        assert [code(client, each) for each in range(2)] == ["NONE"] * 2
        cluster.expire_producer("orders", 0)
        assert code(client, 2) == error
        assert len(cluster.records("orders", 0)) == 2
        assert code(client, 0) == "NONE"


def test_a_forgotten_producer_is_accepted_by_the_cluster_otherwise() -> None:
    with behind({}) as (cluster, client):
        assert code(client, 0) == "NONE"
        cluster.expire_producer("orders", 0)
        assert code(client, 1) == "NONE"


def test_other_partitions_of_a_request_are_written() -> None:
    with behind({"unknown-producer": "unknown-producer-id"}) as (cluster, client):
        assert {each["error_code"] for each in produced(client, orders_0=0, orders_1=0).values()} == {"NONE"}
        cluster.expire_producer("orders", 0)
        found = produced(client, orders_0=1, orders_1=1, others_0=0)
        assert {place: each["error_code"] for place, each in found.items()} == {
            "orders_0": UNKNOWN,
            "orders_1": "NONE",
            "others_0": "NONE",
        }
        assert [found[each]["base_offset"] for each in ("orders_0", "orders_1", "others_0")] == [-1, 1, 0]
        assert [found[each]["log_start_offset"] for each in ("orders_0", "orders_1")] == [0, 0]
        assert [len(cluster.records("orders", each)) for each in (0, 1)] == [1, 2]


def test_a_real_producer_hears_that_it_was_forgotten() -> None:
    with (
        MockCluster(topics={"orders": 1}) as cluster,
        MockProxy(
            cluster.bootstrap_servers, policies={"unknown-producer": "out-of-order-sequence-number"}
        ) as proxy,
    ):
        producer = Producer(
            {
                "bootstrap.servers": proxy.bootstrap_servers,
                "enable.idempotence": True,
                "enable.gapless.guarantee": True,
            }
        )
        producer.produce("orders", "order 1")
        assert producer.flush(60) == 0
        cluster.expire_producer("orders", 0)
        producer.produce("orders", "order 2")
        with pytest.raises(KafkaException, match=OUT_OF_ORDER):
            producer.flush(60)
        assert len(cluster.records("orders")) == 1


def test_a_topic_that_is_named_by_its_id_is_known_from_metadata() -> None:
    with behind({"unknown-producer@topic:orders": "unknown-producer-id"}) as (_, client):
        topics = client.call("metadata", 12, {"topics": [{"topic_id": None, "name": "orders"}]})["topics"]
        records = batch(1, producer_id=PRODUCER, producer_epoch=0, sequence=3)
        topic = {
            "topic_id": topics[0]["topic_id"],
            "partition_data": [{"index": 0, "records": records}],
        }
        answer = client.call(
            "produce", 13, {"transactional_id": None, "acks": -1, "timeout": 10_000, "topic_data": [topic]}
        )
        (found,) = answer["responses"][0]["partition_responses"]
        assert (found["error_code"], answer["responses"][0]["topic_id"]) == (UNKNOWN, topics[0]["topic_id"])


def test_what_can_not_be_decided_is_told() -> None:
    between = Between(policies={"unknown-producer": "unknown-producer-id"})
    records = batch(1, producer_id=PRODUCER, producer_epoch=0, sequence=3)
    topic = {"name": "orders", "partition_data": [{"index": 0, "records": records}]}
    sent: dict[str, Any] = {"transactional_id": None, "acks": -1, "timeout": 1000, "topic_data": [topic]}
    between.ask("produce", 9, **sent)
    refused = PartitionResponse(0, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    told = DescribeProducersResponse(topics=[TopicResponse("orders", [refused])])
    between.session.from_broker(answer_codec(ApiKey.DESCRIBE_PRODUCERS, 0).encode(7, told))
    assert taken(between.session.to_broker) == request("produce", 9, **sent)
    assert between.said == [
        "nothing is decided on batches for orders: DescribeProducers says TOPIC_AUTHORIZATION_FAILED"
    ]


def test_an_error_of_the_question_is_the_answer() -> None:
    between = Between(policies={"undefined-epoch": "log-end-offset"})
    asked = {"partition": 0, "current_leader_epoch": 0, "leader_epoch": 9}
    topics = [{"topic": "orders", "partitions": [asked]}]
    between.ask("offset_for_leader_epoch", 4, replica_id=-1, topics=topics)
    undefined = OffsetForLeaderEpochResponse(
        topics=[OffsetForLeaderTopicResult("orders", [EpochEndOffset(0, 0)])]
    )
    between.session.from_broker(answer_codec(ApiKey.OFFSET_FOR_LEADER_EPOCH, 4).encode(7, undefined))
    assert taken(between.session.to_broker)
    moved = ListOffsetsPartitionResponse(0, ErrorCode.NOT_LEADER_OR_FOLLOWER)
    found = ListOffsetsResponse(topics=[ListOffsetsTopicResponse("orders", [moved])])
    between.session.from_broker(answer_codec(ApiKey.LIST_OFFSETS, 4).encode(7, found))
    answer = answer_codec(ApiKey.OFFSET_FOR_LEADER_EPOCH, 4).decode(taken(between.session.to_client)[4:])
    assert answer.topics[0].partitions[0].error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert not between.said


# -- stale-duplicate


@pytest.mark.parametrize(
    ("policies", "error"),
    [({}, OUT_OF_ORDER), ({"stale-duplicate": "duplicate-sequence-number"}, DUPLICATE)],
    ids=["none", "chosen"],
)
def test_a_duplicate_that_is_not_remembered(policies: dict[str, Any], error: str) -> None:
    with behind(policies) as (_, client):
        assert [code(client, each) for each in range(7)] == ["NONE"] * 7
        assert code(client, 0) == error
        assert code(client, 9) == OUT_OF_ORDER
        assert code(client, 6) == "NONE"


def test_two_behaviours_decide_on_one_request() -> None:
    chosen = {"stale-duplicate": "duplicate-sequence-number", "unknown-producer": "unknown-producer-id"}
    with behind(chosen) as (_, client):
        assert [code(client, each) for each in range(7)] == ["NONE"] * 7
        found = produced(client, orders_0=1, orders_1=3)
        assert found["orders_0"]["error_code"] == DUPLICATE
        assert found["orders_1"]["error_code"] == UNKNOWN


# -- fenced-error


def fenced(client: Client, version: int) -> str:
    """The error of a producer that ends a transaction after another one has taken its place."""
    asked = {"transactional_id": "t", "transaction_timeout": 60_000}
    first = client.call("init_producer_id", 4, {**asked, "producer_id": -1, "producer_epoch": -1})
    client.call("init_producer_id", 4, {**asked, "producer_id": -1, "producer_epoch": -1})
    topics = [{"name": "orders", "partitions": [0]}]
    who = {"producer_id": first["producer_id"], "producer_epoch": first["producer_epoch"]}
    answer = client.call(
        "add_partitions_to_txn",
        version,
        {
            "v3_and_below_transactional_id": "t",
            **{f"v3_and_below_{name}": value for name, value in who.items()},
            "v3_and_below_topics": topics,
        },
    )
    (partition,) = answer["results_by_topic_v3_and_below"][0]["results_by_partition"]
    return str(partition["partition_error_code"])


@pytest.mark.parametrize(
    ("policies", "version", "error"),
    [
        ({}, 3, FENCED),
        ({"fenced-error": "invalid-producer-epoch"}, 3, FENCED_EPOCH),
        ({"fenced-error": "by-version"}, 3, FENCED),
        ({"fenced-error": "by-version"}, 1, FENCED_EPOCH),
    ],
)
def test_the_error_of_a_fenced_producer(policies: dict[str, Any], version: int, error: str) -> None:
    with behind(policies) as (_, client):
        client.call("find_coordinator", 4, {"key_type": 1, "coordinator_keys": ["t"]})
        assert fenced(client, version) == error


def test_a_cluster_of_old_errors_can_be_made_to_answer_new_ones() -> None:
    old = {"fenced-error": "invalid-producer-epoch"}
    with behind({"fenced-error": "by-version"}, policies=old) as (_, client):
        client.call("find_coordinator", 4, {"key_type": 1, "coordinator_keys": ["t"]})
        assert fenced(client, 3) == FENCED


# -- what a proxy can't decide


@pytest.mark.parametrize(
    ("policies", "why"),
    [
        (
            {"fetch-log-start-offset": "live"},
            "fetch-log-start-offset is decided in the cluster itself.*epoch",
        ),
        ({"unknown-producer": "accepted"}, "can't make a cluster accept batches"),
        ({"unknown-producer@topic:orders": "accepted"}, "can't make a cluster accept batches"),
        ({"epoch-bump": "per-transaction"}, "can't make a cluster bump epochs"),
        ({"undefined-epoch": "nothing"}, "has no answer 'nothing'"),
        ({"undefined-epok": "undefined"}, "no behaviour 'undefined-epok'.*undefined-epoch"),
    ],
    ids=lambda value: next(iter(value.items())) if isinstance(value, dict) else "",
)
def test_what_a_proxy_can_not_decide_is_refused(policies: Any, why: str) -> None:
    with (
        MockCluster(brokers=1) as cluster,
        pytest.raises(UnknownPolicyError, match=why),
        MockProxy(cluster.bootstrap_servers, policies=policies),
    ):
        pytest.fail("it started")


def test_a_cluster_that_can_not_be_asked_is_refused() -> None:
    with (
        MockCluster(brokers=1, kafka="2.7") as cluster,
        pytest.raises(UpstreamError, match="behaviours need DescribeProducers v0, which it does not answer"),
        MockProxy(cluster.bootstrap_servers, policies={"unknown-producer": "unknown-producer-id"}),
    ):
        pytest.fail("it started")


@pytest.mark.parametrize("kafka", ["2.4", "2.3", "1.0"])
def test_a_cluster_that_refuses_unknown_producers_itself_need_not_be_asked(kafka: str) -> None:
    chosen = {"unknown-producer@topic:orders": OUT_OF_ORDER.lower().replace("_", "-")}
    with behind(chosen, kafka=kafka) as (_, client):
        places = {"orders_0": 3, "orders_1": 0, "others_0": 3}
        errors = {place: each["error_code"] for place, each in produced(client, version=5, **places).items()}
        assert errors == {"orders_0": OUT_OF_ORDER, "orders_1": "NONE", "others_0": UNKNOWN}


def test_a_cluster_that_does_not_say_who_is_unknown_is_refused() -> None:
    with (
        MockCluster(brokers=1, kafka="0.11") as cluster,
        pytest.raises(UpstreamError, match="behaviours need Produce v5, which it does not answer"),
        MockProxy(cluster.bootstrap_servers, policies={"unknown-producer": "unknown-producer-id"}),
    ):
        pytest.fail("it started")


def test_faults_act_on_requests_that_are_decided_on() -> None:
    with (
        MockCluster(brokers=1, topics={"orders": 1}) as cluster,
        MockProxy(cluster.bootstrap_servers, policies={"unknown-producer": "unknown-producer-id"}) as proxy,
        raw_client(proxy) as client,
    ):
        fault = proxy.add_fault("error", api="Produce", error="NOT_LEADER_OR_FOLLOWER", times=1)
        assert code(client, 3) == "NOT_LEADER_OR_FOLLOWER"
        assert code(client, 3) == UNKNOWN
        assert fault.hits == 1
        assert not cluster.records("orders")
