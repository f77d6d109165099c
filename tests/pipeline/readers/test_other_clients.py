"""Logs of clients that are not Java's, as they printed them when an offset was out of range."""

from pathlib import Path
from typing import Any

import pytest

from .reading import rows, source

LIBRDKAFKA = (
    "%4|1795400576.461|OFFSET|shipping-7#consumer-3| [thrd:main]: orders [0]: offset reset (at offset 300 "
    "(leader epoch 0), broker 2) to offset BEGINNING (leader epoch -1): fetch failed due to requested offset "
    "not available on the broker: Broker: Offset out of range\n"
)
TRUNCATED = (
    "%4|1795400576.461|OFFSET|shipping-7#consumer-3| [thrd:main]: orders [0]: offset reset (at offset 2500 "
    "(leader epoch 3), broker 2) to offset END (leader epoch -1): Partition log truncation detected at "
    "offset 2500 (leader epoch 3): broker end offset is 1000 (offset leader epoch 2). Reset to INVALID.: "
    "Local: Partition log truncation detected\n"
)
FAILED = (
    "%6|1795400484.452|FAIL|writer-5#producer-2| [thrd:127.0.0.1:9092/3]: 127.0.0.1:9092/3: Disconnected: "
    "connection closed by peer: receive 0 after POLLIN (after 1793ms in state UP)\n"
)
KAFKA_PYTHON = """\
2026-11-23 02:22:50,807 INFO kafka.net.selector: IO loop starting (client_id=reports-8)
/srv/app.py:57: DeprecationWarning: value_deserializer does not implement kafka.serializer.Deserializer
2026-11-23 02:22:50,865 INFO kafka.cluster: Updated metadata: ClusterMetadata(brokers: 3, topics: 0)
2026-11-23 02:22:51,455 WARNING kafka.coordinator: Marking the coordinator dead for group reports: no
2026-11-23 02:22:51,617 INFO kafka.coordinator: Received member id reports-8 for group reports; will retry
2026-11-23 02:22:56,412 INFO kafka.coordinator: Successfully joined group reports <Generation 3 (member_id: \
reports-8-1018, protocol: range)>
2026-11-23 02:22:56,504 INFO kafka.consumer.fetcher: Fetch offset 300 is out of range for topic-partition \
TopicPartition(topic='orders', partition=0)
2026-11-23 02:22:56,507 INFO kafka.consumer.fetcher: Resetting offset for partition \
TopicPartition(topic='orders', partition=0) to offset 1000.
"""
AIOKAFKA = """\
2026-11-23 05:55:45,552 INFO aiokafka.consumer.group_coordinator: (Re-)joining group audit
2026-11-23 05:55:45,626 INFO aiokafka.consumer.group_coordinator: Joined group 'audit' (generation 1) \
with member_id audit-1-b69b936e
2026-11-23 05:55:46,195 INFO aiokafka.consumer.fetcher: Fetch offset 2 is out of range for partition \
TopicPartition(topic='orders', partition=0), resetting offset
"""
OUT_OF_RANGE = {
    "kind": "refused",
    "api": "Fetch",
    "error": "OFFSET_OUT_OF_RANGE",
    "topic": "orders",
    "partition": 0,
}


def read(folder: Path, text: str, name: str = "client-log") -> list[dict[str, Any]]:
    path = folder / "application.log"
    path.write_text(text)
    assert source(path) == name
    return rows(path, place=True)


def some(row: dict[str, Any], *names: str) -> list[Any]:
    return [row.get(name) for name in names]


RESET = (
    "kind",
    "client",
    "topic",
    "partition",
    "from_offset",
    "offset",
    "leader_epoch",
    "broker",
    "detail",
    "error",
)


def test_librdkafka(tmp_path: Path) -> None:
    (reset,) = read(tmp_path, FAILED + LIBRDKAFKA, "librdkafka-log")
    assert reset["time_ms"] == 1795400576461
    assert reset["position"] == 2
    assert some(reset, *RESET) == [
        *("reset", "shipping-7", "orders", 0, 300, None, 0, 2),
        *("earliest", "OFFSET_OUT_OF_RANGE"),
    ]


def test_librdkafka_detects_a_truncation(tmp_path: Path) -> None:
    (reset,) = read(tmp_path, TRUNCATED, "librdkafka-log")
    assert some(reset, "from_offset", "leader_epoch", "detail", "error") == [
        2500,
        3,
        "truncation detected",
        None,
    ]


def test_librdkafka_in_the_log_of_an_application(tmp_path: Path) -> None:
    text = LIBRDKAFKA.partition("| ")[2]
    line = f"2026-11-23 02:22:56,461 WARNING shop OFFSET [shipping-7#consumer-3] {text}"
    (reset,) = read(tmp_path, f"2026-11-23 02:22:50,000 INFO shop started\n{line}")
    assert some(reset, *RESET[:6]) == ["reset", "shipping-7", "orders", 0, 300, None]


def test_kafka_python(tmp_path: Path) -> None:
    joined, refused, reset = read(tmp_path, KAFKA_PYTHON)
    assert some(joined, "kind", "group", "generation") == ["group", "reports", 3]
    assert OUT_OF_RANGE.items() <= refused.items()
    assert some(refused, "group", "offset") == ["reports", 300]
    assert some(reset, "kind", "group", "from_offset", "offset") == ["reset", "reports", 300, 1000]


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("; seeking to first diverging offset 1000", 1000),
        (" (broker returned UNDEFINED end_offset/leader_epoch); …", None),
    ],
)
def test_kafka_python_detects_a_truncation(tmp_path: Path, text: str, offset: int | None) -> None:
    begin = "2026-11-23 02:22:56,504 INFO kafka.consumer.fetcher: Truncation detected for"
    (reset,) = read(tmp_path, f"{begin} TopicPartition(topic='orders', partition=0) at position 2500{text}\n")
    assert some(reset, "kind", "topic", "partition", "from_offset", "offset", "detail") == [
        *("reset", "orders", 0, 2500, offset),
        "truncation detected",
    ]


def test_aiokafka(tmp_path: Path) -> None:
    joined, refused = read(tmp_path, AIOKAFKA)
    assert some(joined, "kind", "group", "generation") == ["group", "audit", 1]
    assert OUT_OF_RANGE.items() <= refused.items()
    assert some(refused, "group", "offset") == ["audit", 2]


SARAMA = """\
{}2026/11/26 05:18:12.094399 Initializing new client
{}2026/11/26 05:18:12.324192 txnmgr/init-producer-id [payments] obtained a ProducerId: 1 and ProducerEpoch: 2
"""


@pytest.mark.parametrize("prefix", ["[sarama] ", "sarama: ", ""])
def test_dates_of_go(prefix: str, tmp_path: Path) -> None:
    (found,) = read(tmp_path, SARAMA.format(prefix, prefix))
    assert some(found, "kind", "transactional_id", "producer_id", "producer_epoch", "detail") == [
        *("transaction", "payments", 1, 2),
        "initialized",
    ]
    assert some(found, "time_ms", "position") == [1_795_670_292_324, 2]


KAFKA_GO = "2026/11/26 05:55:13.076257 Failed to join group billing: [81] : "
FRANZ = "2026-11-26T05:00:01.611Z [WARN] {}; group: billing, err: {}: The broker rejected this request."
KAFKAJS = (
    '{"level":"ERROR","timestamp":"2026-11-26T04:52:57.342Z","logger":"kafkajs","groupId":"billing","message":'
    '"[Consumer] Crash: KafkaJSProtocolError: The group member\'s supported protocols are incompatible …"}'
)
JAVA = (
    "2026-11-26 05:01:06,549 [main] ERROR org.apache.kafka.clients.consumer.internals.ConsumerCoordinator - "
    "[Consumer clientId=a, groupId=billing] JoinGroup failed due to fatal error: The group has reached its "
    "maximum size."
)


@pytest.mark.parametrize(
    ("line", "api", "error"),
    [
        (
            "2026/11/26 05:55:13.076257 Failed to join group billing: [81] : ",
            "JoinGroup",
            "GROUP_MAX_SIZE_REACHED",
        ),
        (FRANZ.format("join group failed", "FENCED_INSTANCE_ID"), "JoinGroup", "FENCED_INSTANCE_ID"),
        (FRANZ.format("heartbeat errored", "REBALANCE_IN_PROGRESS"), "Heartbeat", "REBALANCE_IN_PROGRESS"),
        (KAFKAJS, "JoinGroup", "INCONSISTENT_GROUP_PROTOCOL"),
        (JAVA, "JoinGroup", "GROUP_MAX_SIZE_REACHED"),
    ],
)
def test_a_member_that_is_refused(line: str, api: str, error: str, tmp_path: Path) -> None:
    (refused,) = read(tmp_path, f"{line}\n")
    assert some(refused, "kind", "group", "api", "error") == ["refused", "billing", api, error]


def test_a_member_of_kafkajs_that_is_given_what_it_does_not_read(tmp_path: Path) -> None:
    line = (
        '{"level":"WARN","timestamp":"2026-11-26T04:49:22.369Z","logger":"kafkajs","message":'
        '"[ConsumerGroup] Consumer group received unsubscribed topics","groupId":"office",'
        '"topicsNotSubscribed":["orders","bills"]}'
    )
    found = read(tmp_path, f"{line}\n")
    assert [some(each, "kind", "group", "topic", "partition") for each in found] == [
        ["complaint", "office", topic, None] for topic in ("orders", "bills")
    ]


KAFKA_GO = """\
2026/11/30 00:48:26.638489 joined group shipping as member shipping-6-64e6 in generation 1
2026/11/30 00:48:26.649531 initializing kafka reader for partition 0 of orders starting at offset {begins}
2026/11/30 00:48:26.661550 the kafka reader for partition 0 of orders is seeking to offset {there}
"""


@pytest.mark.parametrize(
    ("begins", "there", "told"),
    [
        ("first offset", 0, [("restore", None, -1), ("reset", None, 0)]),
        ("last offset", 500, [("restore", None, -1), ("reset", None, 500)]),
        ("300", 300, [("position", None, 300), ("position", None, 300)]),
        ("300", 450, [("position", None, 300), ("reset", 300, 450)]),
    ],
)
def test_where_kafka_go_begins(
    begins: str, there: int, told: list[tuple[str, int | None, int]], tmp_path: Path
) -> None:
    """What has been deleted it goes past without a word."""
    joined, *found = read(tmp_path, KAFKA_GO.format(begins=begins, there=there))
    assert joined["kind"] == "group"
    assert [(each["kind"], each.get("from_offset"), each["offset"]) for each in found] == told
    assert {(each["group"], each["topic"], each["partition"]) for each in found} == {
        ("shipping", "orders", 0)
    }


def test_what_kafka_go_commits(tmp_path: Path) -> None:
    said = (
        "committed offsets for group shipping: \n\ttopic: orders\n\t\tpartition 0: 300\n\t\tpartition 12: 7\n"
    )
    found = read(tmp_path, f"2026/11/30 00:48:01.646816 {said}\ttopic: returns\n\t\tpartition 3: 0\n")
    assert [some(each, "kind", "group", "topic", "partition", "offset") for each in found] == [
        ["commit", "shipping", "orders", 0, 300],
        ["commit", "shipping", "orders", 12, 7],
        ["commit", "shipping", "returns", 3, 0],
    ]


def test_records_that_kafka_go_skips(tmp_path: Path) -> None:
    said = (
        "the kafka reader is reading before the first offset for partition 0 of orders, skipping from offset "
        "300 to 450 (150 messages)"
    )
    found = read(tmp_path, f"2026/11/30 00:48:26.661550 {said}\n")
    assert [some(each, "kind", "topic", "partition", "from_offset", "offset") for each in found] == [
        ["reset", "orders", 0, 300, 450]
    ]
