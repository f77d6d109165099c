# Driver: confluent-kafka, of the package confluent-kafka
"""confluent-kafka."""

import logging
from typing import Any, ClassVar

import confluent_kafka
import confluent_kafka.admin
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition, libversion
from confluent_kafka.cimpl import NewPartitions, NewTopic
from lines import (
    ADMIN,
    ASSIGNOR,
    CODEC,
    LOGS,
    Call,
    Fields,
    Handle,
    Lines,
    UnsupportedError,
    deserializer,
    record,
    serve,
    taking,
)

_SILENT = logging.Logger("silent", logging.CRITICAL + 1)
_PRODUCES = {
    "max.request.size": "message.max.bytes",
    "delivery.timeout.ms": "message.timeout.ms",
    **dict.fromkeys(
        (
            "acks",
            "compression.type",
            "enable.idempotence",
            "linger.ms",
            "max.in.flight.requests.per.connection",
            "transactional.id",
            "transaction.timeout.ms",
        )
    ),
}
_CONSUMES = {
    "auto.offset.reset": "auto.offset.reset",
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    **dict.fromkeys(
        (
            "group.id",
            "group.instance.id",
            "group.protocol",
            "group.remote.assignor",
            "auto.commit.interval.ms",
            "check.crcs",
            "client.rack",
            "enable.partition.eof",
            "fetch.error.backoff.ms",
            "fetch.max.bytes",
            "fetch.queue.backoff.ms",
            "enable.auto.commit",
            "heartbeat.interval.ms",
            "isolation.level",
            "max.poll.interval.ms",
            "message.max.bytes",
            "partition.assignment.strategy",
            "receive.message.max.bytes",
            "session.timeout.ms",
        )
    ),
}
_SHARES = {
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    **dict.fromkeys(
        (
            "group.id",
            "check.crcs",
            "client.rack",
            "max.poll.interval.ms",
            "max.poll.records",
            "share.acknowledgement.mode",
        )
    ),
}
_BOTH = {
    "metadata.max.age.ms": "topic.metadata.refresh.interval.ms",
    "request.timeout.ms": "socket.timeout.ms",
    **dict.fromkeys(
        (
            "bootstrap.servers",
            "client.id",
            "reconnect.backoff.max.ms",
            "reconnect.backoff.ms",
            "retry.backoff.ms",
            "enable.sasl.oauthbearer.unsecure.jwt",
            "sasl.mechanism",
            "sasl.oauthbearer.client.id",
            "sasl.oauthbearer.client.secret",
            "sasl.oauthbearer.config",
            "sasl.oauthbearer.method",
            "sasl.oauthbearer.token.endpoint.url",
            "sasl.password",
            "sasl.username",
            "security.protocol",
            "ssl.ca.location",
            "ssl.certificate.location",
            "ssl.key.location",
            "topic.metadata.refresh.fast.interval.ms",
        )
    ),
}
"""Names of settings, and librdkafka's if these are others. Some have no other client."""
_CONSUMER_PROTOCOL = 0x020C0000
"""2.12, the first release in which it is no preview."""
_CLASSIC_ONLY = ("heartbeat.interval.ms", "partition.assignment.strategy", "session.timeout.ms")
"""It refuses these if the broker decides on them (KIP-848)."""
_ENDS = {"beginning": confluent_kafka.OFFSET_BEGINNING, "end": confluent_kafka.OFFSET_END}
_MOST = "max.poll.records"
"""Librdkafka has no such setting, but `consume` has a parameter."""


def described(error: BaseException | KafkaError) -> Fields:
    kafka = error.args[0] if isinstance(error, KafkaException) and error.args else error
    if not isinstance(kafka, KafkaError):
        return {"name": type(error).__name__, "message": str(error), "code": None}
    return {
        "name": kafka.name(),
        "message": kafka.str(),
        "code": kafka.code() if kafka.code() > 0 else None,
        # What is refused after a fatal error says only that there was one.
        "fatal": kafka.fatal() or kafka.code() == KafkaError._FATAL,
        "retriable": kafka.retriable(),
        "abortable": kafka.txn_requires_abort(),
    }


def configured(config: Fields, names: dict[str, str | None]) -> Fields:
    names = {**names, **_BOTH}
    if config.get("group.protocol") == "consumer":
        config = {name: value for name, value in config.items() if name not in _CLASSIC_ONLY}
    given = {names[name] or name: value for name, value in config.items() if name in names}
    if given.get("auto.offset.reset") == "none":
        given["auto.offset.reset"] = "error"
    return given if LOGS else {**given, "logger": _SILENT}


class ConfluentProducer(Handle):
    settings: ClassVar = {**_PRODUCES, **_BOTH}

    def __init__(self, name: str, lines: Lines, fields: Fields) -> None:
        super().__init__(name, lines)
        self.producer = Producer({**configured(fields["config"], _PRODUCES), "error_cb": self._told})
        if "transactional.id" in fields["config"]:
            self.producer.init_transactions(fields.get("timeout_ms", 30_000) / 1000)

    def _told(self, error: KafkaError) -> None:
        self.event("error", error=described(error))

    def idle(self) -> None:
        try:
            self.producer.poll(0)
        except (KafkaException, SystemError) as error:  # a fatal error, or what comes of one in a callback
            self.event("error", error=described(error))

    def produce(self, call: Call, topic: str, partition: int | None, **content: Any) -> None:
        def delivered(error: KafkaError | None, message: Any) -> None:
            if error is None:
                call.answer({"partition": message.partition(), "offset": message.offset()})
            else:
                call.fail(KafkaException(error))

        where: dict[str, Any] = {} if partition is None else {"partition": partition}
        self.producer.produce(topic, on_delivery=delivered, **content, **where)
        self.idle()

    def flush(self, timeout_ms: int) -> Fields:
        return {"left": self.producer.flush(timeout_ms / 1000)}

    def begin(self) -> None:
        self.producer.begin_transaction()

    def send_offsets(self, offsets: list[list[Any]], consumer: str, timeout_ms: int) -> None:
        group = ConfluentConsumer.open[consumer].consumer.consumer_group_metadata()
        self.producer.send_offsets_to_transaction(_partitions(offsets), group, timeout_ms / 1000)

    def commit_transaction(self, timeout_ms: int) -> None:
        self.producer.commit_transaction(timeout_ms / 1000)

    def abort_transaction(self, timeout_ms: int) -> None:
        self.producer.abort_transaction(timeout_ms / 1000)

    def close(self, timeout_ms: int) -> None:
        self.producer.flush(timeout_ms / 1000)
        self.producer.purge()
        self.producer.flush(1)
        del self.producer


class ConfluentConsumer(Handle):
    settings: ClassVar = {**_CONSUMES, **_BOTH, _MOST: None}
    open: ClassVar[dict[str, "ConfluentConsumer"]] = {}

    def __init__(self, name: str, lines: Lines, fields: Fields) -> None:
        super().__init__(name, lines)
        self._value = deserializer(fields.get("fails_on"))
        # It insists on a group, even if it is assigned its partitions.
        self.consumer = Consumer(
            {"group.id": "none", **configured(fields["config"], _CONSUMES), "error_cb": self._told}
        )
        self._most = int(fields["config"].get(_MOST, 500))
        self.open[name] = self

    def _told(self, error: KafkaError) -> None:
        self.event("error", error=described(error))

    def subscribe(self, topics: list[str]) -> None:
        self.consumer.subscribe(
            topics,
            on_assign=lambda _, given: self.event("assigned", partitions=_pairs(given)),
            on_revoke=lambda _, given: self.event("revoked", partitions=_pairs(given)),
            on_lost=lambda _, given: self.event("lost", partitions=_pairs(given)),
        )

    def assign(self, partitions: list[list[Any]]) -> None:
        self.consumer.assign(_partitions(partitions))

    def poll(self, timeout_ms: int) -> Fields:
        read, errors = [], []
        for each in self.consumer.consume(self._most, timeout_ms / 1000):
            if (error := each.error()) is not None:
                errors.append(described(error))
                continue
            try:
                value = self._value(each.value())
            except ValueError as raised:
                errors.append({**described(raised), "deserializer": True})
                continue
            content = each.key(), value, each.headers(), each.leader_epoch()
            read.append(record(each.topic(), each.partition(), each.offset(), *content))
        return {"records": read, "errors": errors}

    def commit(self, offsets: list[list[Any]] | None = None, timeout_ms: int = 0) -> None:
        given = {} if offsets is None else {"offsets": _partitions(offsets)}
        for each in self.consumer.commit(asynchronous=False, **given):
            if each.error is not None:
                raise KafkaException(each.error)

    def committed(self, partitions: list[list[Any]], timeout_ms: int) -> Fields:
        return {
            "offsets": _offsets(self.consumer.committed(_partitions(partitions), timeout=timeout_ms / 1000))
        }

    def position(self, partitions: list[list[Any]], timeout_ms: int) -> Fields:
        return {"offsets": _offsets(self.consumer.position(_partitions(partitions)))}

    def seek(self, topic: str, partition: int, offset: int | None = None, to: str = "") -> None:
        where = _ENDS[to] if offset is None else offset
        self.consumer.seek(TopicPartition(topic, partition, where))

    def offsets_for_times(self, partitions: list[list[Any]], timeout_ms: int) -> Fields:
        found = self.consumer.offsets_for_times(_partitions(partitions), timeout=timeout_ms / 1000)
        return {"offsets": _offsets(found)}

    def pause(self, partitions: list[list[Any]]) -> None:
        self.consumer.pause(_partitions(partitions))

    def resume(self, partitions: list[list[Any]]) -> None:
        self.consumer.resume(_partitions(partitions))

    def close(self, timeout_ms: int) -> None:
        del self.open[self._name]
        self.consumer.close()


class ConfluentShare(Handle):
    settings: ClassVar = {**_SHARES, **_BOTH}

    def __init__(self, name: str, lines: Lines, fields: Fields) -> None:
        super().__init__(name, lines)
        config = configured(fields["config"], _SHARES)
        self.consumer = confluent_kafka.ShareConsumer({**config, "error_cb": self._told})
        self.consumer.set_acknowledgement_commit_callback(self._acknowledged)

    def _told(self, error: KafkaError) -> None:
        self.event("error", error=described(error))

    def _acknowledged(self, offsets: dict[TopicPartition, set[int]], error: BaseException | None) -> None:
        rows = [[at.topic, at.partition, sorted(some)] for at, some in offsets.items()]
        self.event("acknowledged", offsets=rows, **({} if error is None else {"error": described(error)}))

    def subscribe(self, topics: list[str]) -> None:
        self.consumer.subscribe(topics)

    def poll(self, timeout_ms: int) -> Fields:
        read, errors = [], []
        for each in self.consumer.poll(timeout_ms / 1000):
            if (error := each.error()) is not None:
                errors.append(described(error))
                continue
            at = each.topic(), each.partition(), each.offset()
            told = record(*at, each.key(), each.value(), each.headers(), each.leader_epoch())
            read.append({**told, "delivery_count": each.delivery_count()})
        return {"records": read, "errors": errors}

    def acknowledge(self, topic: str, partition: int, offset: int, **said: str) -> None:
        type_ = getattr(confluent_kafka.AcknowledgeType, said["as"].upper(), None)
        if type_ is None:
            raise UnsupportedError(f"it can't {said['as']} records")
        self.consumer.acknowledge_offset(topic, partition, offset, type_)

    def commit(self, timeout_ms: int) -> Fields:
        results = self.consumer.commit_sync(timeout_ms / 1000)
        return {
            "results": [
                [at.topic, at.partition, None if error is None else described(error)]
                for at, error in results.items()
            ]
        }

    def commit_async(self) -> None:
        self.consumer.commit_async()

    def close(self, timeout_ms: int) -> None:
        self.consumer.close()


_ADMIN: Any = confluent_kafka.admin


class ConfluentAdmin(Handle):
    settings = _BOTH

    def __init__(self, name: str, lines: Lines, fields: Fields) -> None:
        super().__init__(name, lines)
        self.admin = _ADMIN.AdminClient(configured(fields["config"], {}))

    def create_topic(self, topic: str, partitions: int, replication_factor: int, timeout_ms: int) -> None:
        created = self.admin.create_topics([NewTopic(topic, partitions, replication_factor)])
        created[topic].result(timeout_ms / 1000)

    def create_partitions(self, topic: str, partitions: int, timeout_ms: int) -> None:
        self.admin.create_partitions([NewPartitions(topic, partitions)])[topic].result(timeout_ms / 1000)

    def delete_topic(self, topic: str, timeout_ms: int) -> None:
        self.admin.delete_topics([topic])[topic].result(timeout_ms / 1000)

    def alter_config(self, topic: str, name: str, to: str, timeout_ms: int) -> None:
        operation = _ADMIN.AlterConfigOpType.SET
        entry = _ADMIN.ConfigEntry(name, to, incremental_operation=operation)
        of_topic = _of_topic(topic, incremental_configs=[entry])
        self.admin.incremental_alter_configs([of_topic])[of_topic].result(timeout_ms / 1000)

    def describe_config(self, topic: str, name: str, timeout_ms: int) -> Fields:
        of_topic = _of_topic(topic)
        found = self.admin.describe_configs([of_topic])[of_topic].result(timeout_ms / 1000)
        return {"value": found[name].value}

    def delete_records(self, topic: str, partition: int, offset: int, timeout_ms: int) -> Fields:
        at = TopicPartition(topic, partition, offset)
        return {"offset": self.admin.delete_records([at])[at].result(timeout_ms / 1000).low_watermark}

    def list_offsets(self, topic: str, partition: int, at: str, timeout_ms: int) -> Fields:
        asked = TopicPartition(topic, partition)
        listed = self.admin.list_offsets({asked: getattr(_ADMIN.OffsetSpec, at)()})
        return {"offset": listed[asked].result(timeout_ms / 1000).offset}

    def close(self, timeout_ms: int) -> None:
        del self.admin


def _of_topic(topic: str, **more: Any) -> Any:
    return _ADMIN.ConfigResource(_ADMIN.ResourceType.TOPIC, topic, **more)


def _partitions(partitions: list[list[Any]]) -> list[TopicPartition]:
    return [TopicPartition(*each) for each in partitions]


def _pairs(partitions: list[TopicPartition]) -> list[list[Any]]:
    return [[each.topic, each.partition] for each in partitions]


def _offsets(partitions: list[TopicPartition]) -> list[list[Any]]:
    for each in partitions:
        if each.error is not None:
            raise KafkaException(each.error)
    return [[each.topic, each.partition, each.offset if each.offset >= 0 else None] for each in partitions]


HAS_SHARES = hasattr(confluent_kafka, "ShareConsumer")

if __name__ == "__main__":
    kinds: dict[str, Any] = {
        "producer": ConfluentProducer,
        "consumer": ConfluentConsumer,
        "admin": ConfluentAdmin,
    }
    serve(
        f"librdkafka {libversion()[0]}",
        (
            "groups",
            "assign",
            "group-assign",
            "transactions",
            "send-offsets",
            "idempotence",
            "deserializer",
            "headers",
            "null-headers",
            "admin",
            "pause",
            "patterns",
            "resubscribe",
            "at-once",
            "ends-at-once",
            "commit-at-once",
            "create-partitions",
            "oidc",
            "seek",
            "offsets-for-times",
            *(ADMIN if hasattr(_ADMIN, "OffsetSpec") else ()),
            *taking(CODEC, ("gzip", "snappy", "lz4", "zstd")),
            *taking(ASSIGNOR, ("range", "roundrobin", "cooperative-sticky")),
            *(("consumer-protocol",) if libversion()[1] >= _CONSUMER_PROTOCOL else ()),
            *(("share",) if HAS_SHARES else ()),
        ),
        {**kinds, **({"share-consumer": ConfluentShare} if HAS_SHARES else {})},
        described,
    )
