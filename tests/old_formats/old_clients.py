"""Clients that act as in the times of Kafka 0.9, and those of today, with the same commands:
`write,TOPIC,CODEC,VALUE,…` and `read,TOPIC,GROUP,COUNT`."""

import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from confluent_kafka import Consumer, Producer

from mockbroker.clients.drivers import building

from ..clients import java, kafka_python

_HERE: Final = Path(__file__).parent / "clients"
_GO: Final = Path(building.__file__).parent / "programs" / "go"
_LIMIT_S: Final = 240.0
Run = Callable[[str, Sequence[str]], list[str]]
"""Carries commands out at these bootstrap servers: the offset of each record that was written, and offset and
value of each that was read."""


def _java(version: str) -> Run:
    def run(servers: str, commands: Sequence[str]) -> list[str]:
        classes = java.class_path(version, _HERE / "java")
        return _lines([*java.command(classes, "OldClient"), servers, *commands])

    return run


def _sarama(servers: str, commands: Sequence[str]) -> list[str]:
    program = building.go_file(_GO, _HERE / "sarama.go", "github.com/IBM/sarama", None)
    return _lines([str(program), servers, *commands])


def _lines(command: Sequence[str]) -> list[str]:
    done = subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT_S, check=False)
    assert not done.returncode, done.stdout + done.stderr
    return done.stdout.splitlines()


def _in_python(
    write: Callable[[str, str, str, list[str]], Iterator[str]],
    read: Callable[[str, str, str, int], Iterator[str]],
) -> Run:
    def run(servers: str, commands: Sequence[str]) -> list[str]:
        lines: list[str] = []
        for command in commands:
            what, topic, how, *rest = command.split(",")
            lines += (
                write(servers, topic, how, rest)
                if what == "write"
                else read(servers, topic, how, int(rest[0]))
            )
        return lines

    return run


def _confluent(**config: Any) -> Run:
    def write(servers: str, topic: str, codec: str, values: list[str]) -> Iterator[str]:
        set_up = {"bootstrap.servers": servers, "compression.type": codec, "linger.ms": 200, **config}
        offsets: list[int | None] = []

        def done(error: Any, message: Any) -> None:
            offsets.append(None if error else message.offset())

        producer = Producer(set_up)
        for value in values:
            producer.produce(topic, value, "key", 0, on_delivery=done)
        producer.flush(30)
        return map(str, offsets)

    def read(servers: str, topic: str, group: str, count: int) -> Iterator[str]:
        set_up = {"bootstrap.servers": servers, "group.id": group, "auto.offset.reset": "earliest", **config}
        consumer = Consumer({**set_up, "enable.auto.commit": False})
        consumer.subscribe([topic])
        for each in consumer.consume(count, 60):
            assert each.error() is None, each.error()
            yield f"{each.offset()} {(each.value() or b'').decode()}"
        consumer.commit(asynchronous=False)
        consumer.close()

    return _in_python(write, read)


def _kafka_python(**config: Any) -> Run:
    def write(servers: str, topic: str, codec: str, values: list[str]) -> Iterator[str]:
        compression = None if codec == "none" else codec
        producer = kafka_python.KafkaProducer(
            bootstrap_servers=servers, compression_type=compression, linger_ms=200, acks="all", **config
        )
        sent = [producer.send(topic, each.encode(), b"key", partition=0) for each in values]
        yield from (str(each.get(30).offset) for each in sent)
        producer.close()

    def read(servers: str, topic: str, group: str, count: int) -> Iterator[str]:
        consumer = kafka_python.KafkaConsumer(
            topic,
            bootstrap_servers=servers,
            group_id=group,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            **config,
        )
        for _ in range(count):
            each = next(consumer)
            yield f"{each.offset} {each.value.decode()}"
        consumer.commit()
        consumer.close()

    return _in_python(write, read)


_OLD_LIBRDKAFKA: Final = {
    "api.version.request": False,
    "broker.version.fallback": "0.9.0",
    # It sometimes fails to read Metadata v0 ("tmpabuf memory shortage"), and asks again only after this.
    "topic.metadata.refresh.interval.ms": 2000,
}
OLD: Final[Mapping[str, Run]] = {
    "java-0.9.0.1": _java("0.9.0.1"),
    "sarama": _sarama,
    "kafka-python": _kafka_python(api_version=(0, 9)),
    "librdkafka": _confluent(**_OLD_LIBRDKAFKA),
}
NEW: Final[Mapping[str, Run]] = {"java-4.4": _java("4.4.0"), "librdkafka-today": _confluent()}
