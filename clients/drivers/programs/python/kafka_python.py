# Driver: kafka-python, of the package kafka-python
"""kafka-python."""

import inspect
from collections.abc import Iterable
from typing import Any, ClassVar

import kafka
from kafka import (
    ConsumerRebalanceListener,
    KafkaAdminClient,
    KafkaConsumer,
    KafkaProducer,
    OffsetAndMetadata,
    TopicPartition,
    codec,
)
from kafka.admin import ConfigResource, ConfigResourceType, NewPartitions, NewTopic
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from lines import (
    ADMIN,
    ASSIGNOR,
    Call,
    Fields,
    Handle,
    Lines,
    codecs,
    configured,
    described,
    deserializer,
    log_as_applications_do,
    named,
    record,
    serve,
    taking,
    unsecured_token,
    wanted,
)

ASSIGNORS = [RangePartitionAssignor, RoundRobinPartitionAssignor, StickyPartitionAssignor]
try:
    from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor

    ASSIGNORS.append(CooperativeStickyAssignor)
except ImportError:  # a release before 2.3
    pass
try:
    from kafka.net.sasl.oauth import AbstractTokenProvider
except ImportError:  # a release before 3.0
    from kafka.sasl.oauth import AbstractTokenProvider

try:
    from kafka.admin import OffsetSpec
except ImportError:  # a release before 3.0
    OffsetSpec = None

log_as_applications_do("kafka")


class Tokens(AbstractTokenProvider):
    def __init__(self, claims: str) -> None:
        super().__init__()
        self._claims = claims

    def token(self) -> str:
        token: str = unsecured_token(self._claims)
        return token


def secured(config: Fields, assignors: Iterable[Any] = ()) -> Fields:
    """As `configured`; the claims of a token become the provider that the library takes."""
    given = configured(config, assignors)
    if claims := given.pop("sasl_oauth_token_provider", None):
        given["sasl_oauth_token_provider"] = Tokens(claims)
    return given


_METADATA = len(inspect.signature(OffsetAndMetadata).parameters) - 1


class Producer(Handle):
    settings = named(KafkaProducer.DEFAULT_CONFIG)

    def __init__(self, name: str, lines: Lines, fields: Fields) -> None:
        super().__init__(name, lines)
        self.producer = KafkaProducer(**secured(fields["config"]))
        if "transactional.id" in fields["config"]:
            self.producer.init_transactions()

    def produce(self, call: Call, topic: str, partition: int | None, **content: Any) -> None:
        sent = self.producer.send(topic, partition=partition, **content)
        sent.add_callback(lambda found: call.answer({"partition": found.partition, "offset": found.offset}))
        sent.add_errback(call.fail)

    def flush(self, timeout_ms: int) -> None:
        self.producer.flush(timeout_ms / 1000)

    def begin(self) -> None:
        self.producer.begin_transaction()

    def send_offsets(self, offsets: list[list[Any]], consumer: str, timeout_ms: int) -> None:
        group = Consumer.open[consumer].consumer.group_metadata()
        self.producer.send_offsets_to_transaction(_offsets(offsets), group)

    def commit_transaction(self, timeout_ms: int) -> None:
        self.producer.commit_transaction()

    def abort_transaction(self, timeout_ms: int) -> None:
        self.producer.abort_transaction()

    def close(self, timeout_ms: int) -> None:
        self.producer.close(timeout=timeout_ms / 1000)


class Consumer(Handle):
    settings = named(KafkaConsumer.DEFAULT_CONFIG)
    open: ClassVar[dict[str, "Consumer"]] = {}

    def __init__(self, name: str, lines: Lines, fields: Fields) -> None:
        super().__init__(name, lines)
        config = secured(fields["config"], ASSIGNORS)
        value = deserializer(fields.get("fails_on"))
        self.consumer = KafkaConsumer(value_deserializer=value, **config)
        self.open[name] = self

    def subscribe(self, topics: list[str]) -> None:
        self.consumer.subscribe(**wanted(topics), listener=_Listener(self))

    def assign(self, partitions: list[list[Any]]) -> None:
        self.consumer.assign([TopicPartition(*each[:2]) for each in partitions])
        for topic, partition, *offset in partitions:
            if offset:
                self.consumer.seek(TopicPartition(topic, partition), offset[0])

    def poll(self, timeout_ms: int) -> Fields:
        found = self.consumer.poll(timeout_ms)
        read = [each for records in found.values() for each in records]
        return {"records": [record(r.topic, r.partition, r.offset, r.key, r.value, r.headers) for r in read]}

    def commit(self, timeout_ms: int, offsets: list[list[Any]] | None = None) -> None:
        self.consumer.commit(None if offsets is None else _offsets(offsets), timeout_ms=timeout_ms)

    def committed(self, partitions: list[list[Any]], timeout_ms: int) -> Fields:
        found = [
            [*each, self.consumer.committed(TopicPartition(*each), timeout_ms=timeout_ms)]
            for each in partitions
        ]
        return {"offsets": found}

    def position(self, partitions: list[list[Any]], timeout_ms: int) -> Fields:
        found = [
            [*each, self.consumer.position(TopicPartition(*each), timeout_ms=timeout_ms)]
            for each in partitions
        ]
        return {"offsets": found}

    def seek(self, topic: str, partition: int, offset: int | None = None, to: str = "") -> None:
        at = TopicPartition(topic, partition)
        if offset is not None:
            self.consumer.seek(at, offset)
        elif to == "beginning":
            self.consumer.seek_to_beginning(at)
        else:
            self.consumer.seek_to_end(at)

    def offsets_for_times(self, partitions: list[list[Any]], timeout_ms: int) -> Fields:
        asked = {TopicPartition(topic, partition): at_ms for topic, partition, at_ms in partitions}
        found = self.consumer.offsets_for_times(asked)
        return {"offsets": [[*at, None if each is None else each.offset] for at, each in found.items()]}

    def partitions(self, topic: str, timeout_ms: int) -> Fields:
        return {"partitions": len(self.consumer.partitions_for_topic(topic) or ())}

    def pause(self, partitions: list[list[Any]]) -> None:
        self.consumer.pause(*[TopicPartition(*each) for each in partitions])

    def resume(self, partitions: list[list[Any]]) -> None:
        self.consumer.resume(*[TopicPartition(*each) for each in partitions])

    def close(self, timeout_ms: int) -> None:
        del self.open[self._name]
        self.consumer.close(autocommit=False, timeout_ms=timeout_ms)


class _Listener(ConsumerRebalanceListener):
    def __init__(self, told: Handle) -> None:
        self._told = told

    def on_partitions_assigned(self, assigned: Any) -> None:
        self._told.event("assigned", partitions=sorted(map(list, assigned)))

    def on_partitions_revoked(self, revoked: Any) -> None:
        self._told.event("revoked", partitions=sorted(map(list, revoked)))

    def on_partitions_lost(self, lost: Any) -> None:
        self._told.event("lost", partitions=sorted(map(list, lost)))


class Admin(Handle):
    settings = named(KafkaAdminClient.DEFAULT_CONFIG)

    def __init__(self, name: str, lines: Lines, fields: Fields) -> None:
        super().__init__(name, lines)
        self.admin = KafkaAdminClient(**secured(fields["config"]))

    def create_topic(self, topic: str, partitions: int, replication_factor: int, timeout_ms: int) -> None:
        self.admin.create_topics([NewTopic(topic, partitions, replication_factor)], timeout_ms)

    def create_partitions(self, topic: str, partitions: int, timeout_ms: int) -> None:
        self.admin.create_partitions({topic: NewPartitions(partitions)}, timeout_ms)

    def delete_topic(self, topic: str, timeout_ms: int) -> None:
        self.admin.delete_topics([topic], timeout_ms)

    def alter_config(self, topic: str, name: str, to: str, timeout_ms: int) -> None:
        self.admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, {name: to})])

    def describe_config(self, topic: str, name: str, timeout_ms: int) -> Fields:
        of_topic = ConfigResource(ConfigResourceType.TOPIC, topic, {name: None})
        found = self.admin.describe_configs([of_topic], config_filter="all")
        return {"value": found["topic"][topic][name]["value"]}

    def delete_records(self, topic: str, partition: int, offset: int, timeout_ms: int) -> Fields:
        at = TopicPartition(topic, partition)
        return {"offset": self.admin.delete_records({at: offset}, timeout_ms)[at]["low_watermark"]}

    def list_offsets(self, topic: str, partition: int, at: str, timeout_ms: int) -> Fields:
        asked = TopicPartition(topic, partition)
        spec = OffsetSpec[at.upper()]
        return {
            "offset": self.admin.list_partition_offsets({asked: spec}, timeout_ms=timeout_ms)[asked].offset
        }

    def close(self, timeout_ms: int) -> None:
        self.admin.close()


def _offsets(offsets: list[list[Any]]) -> dict[TopicPartition, OffsetAndMetadata]:
    # Older versions have no leader epoch in OffsetAndMetadata.
    rest = ("", -1)[:_METADATA]
    return {
        TopicPartition(topic, partition): OffsetAndMetadata(at, *rest) for topic, partition, at in offsets
    }


if __name__ == "__main__":
    capabilities = ["groups", "assign", "group-assign", "deserializer", "idempotence", "headers", "admin"]
    capabilities += ["pause", "patterns", "resubscribe", "create-partitions", "at-once", "ends-at-once"]
    capabilities += ["seek", "offsets-for-times"]
    capabilities += ADMIN if OffsetSpec is not None else ()
    capabilities += codecs(codec)
    capabilities += taking(ASSIGNOR, [each.name for each in ASSIGNORS])
    if hasattr(KafkaProducer, "init_transactions"):
        capabilities += ["transactions", "send-offsets"]
    serve(
        f"kafka-python {kafka.__version__}",
        capabilities,
        {"producer": Producer, "consumer": Consumer, "admin": Admin},
        described,
        ("send-offsets", "commit-transaction", "abort-transaction"),
    )
