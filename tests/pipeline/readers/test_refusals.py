"""What brokers, clients and applications log of records that were refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mockbroker.pipeline.readers import Reading

from .reading import of_kind, rows

OLD_EPOCH = (
    "Producer attempted an operation with an old epoch. Either there is a newer producer with the same "
    "transactionalId, or the producer's transaction has been expired by the broker"
)
KAFKAJS = (
    '{"level":"ERROR","timestamp":"2026-11-26T05:18:27.671Z","logger":"kafkajs","message":"[Connection] '
    'Response Produce(key: 0, version: 7)","broker":"127.0.0.1:41487","clientId":"writer-6","error":"%s",'
    '"correlationId":52,"size":54}\n'
)
NODE = "(node:2131) MaxListenersExceededWarning: Possible EventEmitter memory leak detected.\n"
FRANZ_GO = (
    "2026-11-26T05:21:00.256Z [INFO] batch in a produce request failed; broker: 1, topic: orders, "
    "partition: 1, err: MESSAGE_TOO_LARGE: The request included a message larger than the max "
    "message size the server will accept, err_is_retryable: false, max_retries_reached: false\n"
)
SARAMA = (
    "[sarama] 2026/11/26 05:24:19.833000 producer/broker/1 state change to [retrying] on orders/0 because "
    "kafka server: Messages are rejected since there are fewer in-sync replicas than required\n"
)
BROKER = (
    "[2026-11-26 05:24:19,216] ERROR [ReplicaManager broker=1] Error processing append operation on "
    "partition orders-0 (kafka.server.ReplicaManager)\n"
    "org.apache.kafka.common.errors.NotEnoughReplicasException: The size of the current ISR : 1 is "
    "insufficient to satisfy the min.isr requirement of 2 for partition orders-0, live "
    "replica(s) broker.id are : Set(1)\n"
)
COORDINATOR = (
    "[2026-11-26 05:24:19,216] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=3] [GroupId "
    "billing] Static member a1 with instance id worker-1 cannot join the group because the instance id is "
    "owned by member b2. (org.apache.kafka.coordinator.group.GroupMetadataManager)\n"
)
BELOW = (
    "[2025-11-26 05:24:19,216] ERROR [ReplicaManager broker=1] Error processing append operation on "
    "partition orders-1 (kafka.server.ReplicaManager)\n"
    "org.apache.kafka.common.errors.NotEnoughReplicasException: Number of insync replicas for partition "
    "orders-1 is [1], below required minimum [2]\n"
)
DESYNCHRONIZED = (
    "%0|1764133200.000|FATAL|app#producer-1| [thrd:1:9092/1]: Fatal error: Broker: Broker received an out of "
    "order sequence number: ProduceRequest for orders [0] with 1 message(s) failed due to sequence "
    "desynchronization with broker 1 (PID{Id:4000,Epoch:0}, base seq 0, idemp state change 50ms ago\n"
)
ACQUIRE = (
    "%4|1764133200.000|GETPID|app#producer-2| [thrd:main]: Failed to acquire transactional PID from broker "
    "TxnCoordinator/1: Broker: There is a newer producer with the same transactionalId which fences the "
    "current one: retrying\n"
)
AUTO_COMMIT = (
    "2021-04-19 14:59:17,488 WARN [Consumer clientId=app, groupId=g] Asynchronous auto-commit of offsets "
    "{orders-0=OffsetAndMetadata{offset=700, leaderEpoch=0, metadata=''}} failed: Commit cannot be "
    "completed since the group has already rebalanced and assigned the partitions to another member. "
    "(org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)\n"
)
FRANZ_COMMIT = (
    "2026-11-26T05:21:00.256Z [WARN] unable to commit offset for topic partition; group: g, topic: orders, "
    "partition: 3, commit_from: 1000, commit_to: 1080, commit_epoch: 179, error_code: 25\n"
)
PYTHON_COMMIT = (
    "2026-11-26 05:21:00,256 WARNING kafka.coordinator.consumer: Auto offset commit failed for group g: "
    "CommitFailedError: Commit cannot be completed since the group has already rebalanced\n"
)
KEYLESS = (
    "[2026-11-29 21:09:05,443] ERROR [ReplicaManager broker=1] Error processing append operation on "
    "partition QjrXSQOOS8a2iN7JM3noIw:orders-0 (kafka.server.ReplicaManager)\n"
    "org.apache.kafka.common.InvalidRecordException: One or more records have been rejected due to 2 record "
    "errors in total, and only showing the first three errors at most: [RecordError(batchIndex=0, "
    "message='Compacted topic cannot accept message without key in topic partition orders-0')]\n"
)
DENIED = (
    "[2026-11-29 21:07:09,295] INFO Principal = User:a is Denied operation = DESCRIBE from host = 127.0.0.1 "
    "on resource = Group:LITERAL:g for request = FindCoordinator with resourceRefCount = 1 based on rule "
    "DefaultDeny (kafka.authorizer.logger)\n"
)
LOCKED_OUT = (
    "2026-11-29 21:07:08,992 [g-1] INFO org.apache.kafka.clients.consumer.internals.ConsumerCoordinator - "
    "[Consumer clientId=g-1, groupId=g] FindCoordinator request hit fatal exception\n"
    "org.apache.kafka.common.errors.GroupAuthorizationException: Not authorized to access group: g\n"
)
NOT_READ = (
    "2026-11-29 21:07:08,992 [g-1] WARN org.apache.kafka.clients.consumer.internals.FetchCollector - "
    "[Consumer clientId=g-1, groupId=g] Not authorized to read from partition orders-0.\n"
)
ABORTED = (
    "2026-11-29 21:03:51,531 ERROR kafka.producer.sender: <Sender client_id=writer-3 transactional_id=None>: "
    "Aborting producer batches due to fatal error: [Error 32] InvalidTimestampError: One or more records\n"
)
OUT_OF_RANGE = (
    "[Error 87] InvalidRecordError: Timestamp 1796072597201 of message with offset 0 is out of range."
)
KAFKA_GO = (
    "2026/11/30 00:50:51.052437 error writing messages to orders (partition 1, attempt 0): [10] Message Size "
    "Too Large: the server has a configurable maximum message size to avoid unbounded memory allocation\n"
)
APPLICATION = "2026-11-26 05:21:09,559 ERROR writer-4: %s\n"
CASES: tuple[tuple[str, dict[str, Any]], ...] = (
    (KAFKAJS % OLD_EPOCH, {"client": "writer-6", "api": "Produce", "error": "INVALID_PRODUCER_EPOCH"}),
    (FRANZ_GO, {"topic": "orders", "partition": 1, "api": "Produce", "error": "MESSAGE_TOO_LARGE"}),
    (SARAMA, {"topic": "orders", "partition": 0, "api": "Produce", "error": "NOT_ENOUGH_REPLICAS"}),
    (BROKER, {"topic": "orders", "partition": 0, "broker": 1, "error": "NOT_ENOUGH_REPLICAS"}),
    (COORDINATOR, {"group": "billing", "broker": 1, "error": "UNRELEASED_INSTANCE_ID"}),
    (BELOW, {"topic": "orders", "partition": 1, "broker": 1, "error": "NOT_ENOUGH_REPLICAS"}),
    (
        DESYNCHRONIZED,
        {"client": "app", "topic": "orders", "producer_id": 4000, "error": "OUT_OF_ORDER_SEQUENCE_NUMBER"},
    ),
    (ACQUIRE, {"client": "app", "api": "InitProducerId", "error": "PRODUCER_FENCED"}),
    (AUTO_COMMIT, {"group": "g", "topic": "orders", "offset": 700, "error": "CommitFailedException"}),
    (FRANZ_COMMIT, {"group": "g", "partition": 3, "offset": 1080, "error": "UNKNOWN_MEMBER_ID"}),
    (PYTHON_COMMIT, {"group": "g", "api": "OffsetCommit", "error": "CommitFailedException"}),
    (KEYLESS, {"topic": "orders", "partition": 0, "broker": 1, "api": "Produce", "error": "INVALID_RECORD"}),
    (NOT_READ, {"group": "g", "topic": "orders", "api": "Fetch", "error": "TOPIC_AUTHORIZATION_FAILED"}),
    (DENIED, {"group": "g", "api": "FindCoordinator", "error": "GROUP_AUTHORIZATION_FAILED"}),
    (LOCKED_OUT, {"client": "g-1", "group": "g", "error": "GROUP_AUTHORIZATION_FAILED"}),
    (ABORTED, {"client": "writer-3", "api": "Produce", "error": "INVALID_TIMESTAMP"}),
    (
        APPLICATION % f"InvalidRecordError: {OUT_OF_RANGE}",
        {"client": "writer-4", "error": "INVALID_TIMESTAMP"},
    ),
    (
        APPLICATION % "sarama.KError: kafka server: Message was too large, server rejected it to avoid",
        {"client": "writer-4", "api": "Produce", "error": "MESSAGE_TOO_LARGE"},
    ),
    (
        APPLICATION % f"KafkaJSProtocolError: KafkaJSProtocolError: {OLD_EPOCH}",
        {"client": "writer-4", "api": None, "error": "INVALID_PRODUCER_EPOCH"},
    ),
    (KAFKA_GO, {"topic": "orders", "partition": 1, "api": "Produce", "error": "MESSAGE_TOO_LARGE"}),
    (
        APPLICATION % "Message Size Too Large: [10] Message Size Too Large: the server has a configurable",
        {"client": "writer-4", "api": "Produce", "error": "MESSAGE_TOO_LARGE"},
    ),
    (
        APPLICATION % "UNKNOWN_TOPIC_OR_PARTITION: This server does not host this topic-partition.",
        {"client": "writer-4", "api": "Produce", "error": "UNKNOWN_TOPIC_OR_PARTITION"},
    ),
    (
        APPLICATION % "MESSAGE_TOO_LARGE: The request included a message larger than the max message size",
        {"client": "writer-4", "api": "Produce", "error": "MESSAGE_TOO_LARGE"},
    ),
)


@pytest.mark.parametrize(("text", "told"), CASES)
def test_a_refusal(text: str, told: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "some.log"
    path.write_text(text * 2)
    found = of_kind(rows(path), "refused")
    assert [{name: each.get(name) for name in told} for each in found] == [told] * 2


JAVA_DNS = (
    "2026-11-29 21:11:25,557 [kafka-producer-network-thread | a] WARN "
    "org.apache.kafka.clients.NetworkClient - [Producer clientId=a] Error connecting to node "
    "broker2.internal:9092 (id: 2 rack: null isFenced: false)\n"
    "java.net.UnknownHostException: broker2.internal: Name or service not known\n"
)
LIBRDKAFKA_DNS = (
    "%3|1795986685.591|FAIL|a#consumer-1| [thrd:broker2.internal:9092/2]: broker2.internal:9092/2: Failed to "
    "resolve 'broker2.internal:9092': Name or service not known (after 8ms in state CONNECT)\n"
)
FRANZ_GO_DNS = (
    "2026-11-29T21:11:25.907Z [WARN] unable to open connection to broker; addr: broker2.internal:9092, "
    "broker: 2, err: dial tcp: lookup broker2.internal on 192.0.2.53:53: no such host\n"
)
KAFKAJS_CODEC = (
    '{"level":"ERROR","timestamp":"2026-11-29T21:09:19.212Z","logger":"kafkajs","message":"[Consumer] Crash: '
    'KafkaJSNotImplemented: ZSTD compression not implemented","groupId":"g"}\n'
)
JAVA_TOPIC = (
    "2026-11-30 00:46:38,869 [g-1] WARN org.apache.kafka.clients.NetworkClient - [Consumer clientId=g-1, "
    "groupId=g] The metadata response from the cluster reported a recoverable issue with correlation id 60 : "
    "{orders=UNKNOWN_TOPIC_OR_PARTITION}\n"
)
FRANZ_GO_TOPIC = (
    "2026-11-30T00:46:21.330Z [INFO] metadata update triggered; why: re-updating due to inner errors: "
    "UNKNOWN_TOPIC_OR_PARTITION{orders}\n"
)
PYTHON_TOPIC = "2026-11-30 00:46:21,330 ERROR kafka.cluster: Topic orders.v2 not found in cluster metadata\n"
JAVA_QUOTA = (
    "2026-11-30 00:52:23,972 [g-1] WARN org.apache.kafka.clients.NetworkClient - [Consumer clientId=g-1, "
    "groupId=g] Connection to node 1 is throttled for 3871 ms until timestamp 1795999947842\n"
)
LIBRDKAFKA_SIZE = (
    "%3|1796028589.479|FAIL|g-1#consumer-1| [thrd:127.0.0.1:46705/1]: 127.0.0.1:46705/1: Receive failed: "
    "Invalid response size 30183 (0..12000): increase receive.message.max.bytes (after 141ms in state UP, 1 "
    "identical error(s) suppressed)\n"
)
LIBRDKAFKA_LATE = (
    "%5|1796052819.464|REQTMOUT|w-2#producer-1| [thrd:127.0.0.1:35513/1]: 127.0.0.1:35513/1: Timed out "
    "ProduceRequest in flight (after 6332ms, timeout #0)\n"
)
APPLICATION_LATE = "2026-11-30 15:33:39,479 ERROR w-2: _MSG_TIMED_OUT: Local: Message timed out\n"
JAVA_LATE = (
    "2026-11-29 21:10:06,532 ERROR w-4: TimeoutException: Expiring 2 record(s) for my-orders-0:10035 ms has "
    "passed since batch creation. The request has not been sent, or no server response has been received "
    "yet.\n"
)
REJECTED = (
    "[2026-11-29 21:13:36,727] INFO Rejected connection from /127.0.0.1, address already has the configured "
    "maximum of 30 connections. (kafka.network.DataPlaneAcceptor)\n"
)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (JAVA_DNS, {"client": "a", "broker": 2, "error": "UnknownHost", "detail": "broker2.internal"}),
        (LIBRDKAFKA_DNS, {"client": "a", "broker": 2, "error": "UnknownHost", "detail": "broker2.internal"}),
        (FRANZ_GO_DNS, {"broker": 2, "error": "UnknownHost", "detail": "broker2.internal"}),
        (KAFKAJS_CODEC, {"group": "g", "error": "UnsupportedCodec", "detail": "ZSTD"}),
        (JAVA_TOPIC, {"client": "g-1", "topic": "orders", "error": "UNKNOWN_TOPIC_OR_PARTITION"}),
        (FRANZ_GO_TOPIC, {"topic": "orders", "error": "UNKNOWN_TOPIC_OR_PARTITION"}),
        (JAVA_QUOTA, {"client": "g-1", "group": "g", "broker": 1, "error": "Throttled", "detail": "3871"}),
        (LIBRDKAFKA_SIZE, {"client": "g-1", "error": "ResponseTooLarge", "detail": "12000"}),
        (LIBRDKAFKA_LATE, {"client": "w-2", "error": "RecordsTimedOut"}),
        (APPLICATION_LATE, {"client": "w-2", "error": "RecordsTimedOut"}),
        (JAVA_LATE, {"client": "w-4", "topic": "my-orders", "partition": 0, "error": "RecordsTimedOut"}),
        (PYTHON_TOPIC, {"topic": "orders.v2", "error": "UNKNOWN_TOPIC_OR_PARTITION"}),
        (REJECTED, {"error": "TooManyConnections", "detail": "127.0.0.1 has 30 connections"}),
    ],
)
def test_what_is_not_possible(text: str, told: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "some.log"
    path.write_text(text * 2)
    found = of_kind(rows(path), "complaint")
    assert [{name: each.get(name) for name in told} for each in found] == [told] * 2


ACL = (
    "[2026-11-29 21:06:03,374] INFO [QuorumController id=100] Replayed AccessControlEntryRecord for "
    "a_7HAq4KQWOGp3cSMNTOFQ, setting StandardAcl[resourceType=GROUP, resourceName=g, patternType=PREFIXED, "
    "principal=User:b, host=*, operation=READ, permissionType=ALLOW] "
    "(org.apache.kafka.controller.AclControlManager)\n"
)
SETTINGS = (
    "[2026-11-29 21:11:10,374] INFO KafkaConfig values: \n"
    "\tadvertised.listeners = [PLAINTEXT://broker2.internal:9092]\n (kafka.server.KafkaConfig)\n"
)


OF_GROUP = (
    "[2026-11-29 21:11:10,374] INFO [DynamicConfigPublisher broker id=1] Updating group g with new "
    f"configuration : {','.join(f'name.{nth} -> {nth}' for nth in range(200))} "
    "(kafka.server.metadata.DynamicConfigPublisher)\n"
)


@pytest.mark.parametrize(
    ("text", "kind", "told"),
    [
        (
            OF_GROUP,
            "config",
            {"group": "g", "detail": ", ".join(f"name.{nth} = {nth}" for nth in range(200))},
        ),
        (ACL, "acl", {"group": "g", "detail": "created: User:b allow READ from * (prefixed)"}),
        (SETTINGS, "broker", {"detail": "advertises PLAINTEXT://broker2.internal:9092"}),
    ],
)
def test_what_was_set(text: str, kind: str, told: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_text(text)
    (found,) = of_kind(rows(path), kind)
    assert {name: found.get(name) for name in told} == told


def test_what_is_no_producers_error_is_no_refusal(tmp_path: Path) -> None:
    path = tmp_path / "some.log"
    text = KAFKAJS.replace("Produce(", "Heartbeat(") % OLD_EPOCH
    path.write_text(text + SARAMA.replace("Messages are rejected since", "Whatever since"))
    assert of_kind(rows(path), "refused") == []


def test_lines_of_node_are_not_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "some.log"
    reading = Reading()
    path.write_text((KAFKAJS % OLD_EPOCH) * 2 + NODE + KAFKAJS % OLD_EPOCH)
    found = rows(path, reading)
    assert of_kind(found, "unreadable") == []
    assert len(of_kind(found, "refused")) == 3
