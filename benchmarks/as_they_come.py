"""Producers and consumers of librdkafka and of Java, as applications get them, with their usual settings."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

from benchmarks.apis import NotOfferedError
from benchmarks.bench import Bench, ScenarioResult, clock
from benchmarks.wire import WrongAnswerError
from mockbroker.rig.downloads import RealBrokerError
from mockbroker.rig.real_tools import Tools

RECORD_BYTES: Final = 1000
RECORDS_A_SECOND: Final = 100_000
"""So many are produced for each second that is to be measured."""
JAVA: Final = "4.3.1"
_PATIENCE_SECONDS: Final = 60
_PRODUCED: Final = re.compile(r"(\d+) records sent, ([\d.]+) records/sec")


def librdkafka_produce(bench: Bench, *, replicas: int) -> ScenarioResult:
    """Until all is acknowledged."""
    with _topic(bench, replicas) as topic:
        return _timed(bench, _count(bench), lambda: _produce(bench, topic, _count(bench)))


def librdkafka_consume(bench: Bench, *, replicas: int) -> ScenarioResult:
    """From the assignment to the last record, of those that were produced before."""
    with _topic(bench, replicas) as topic:
        count = _count(bench)
        _produce(bench, topic, count)
        return _timed(bench, count, lambda: _consume(bench, topic, count))


def java_produce(bench: Bench, *, replicas: int) -> ScenarioResult:
    """kafka-producer-perf-test; the time is that which it tells, without the start of its JVM."""
    with _topic(bench, replicas) as topic:
        tools, count = _tools(), _count(bench)
        outcome = ScenarioResult()
        with bench.cpu(outcome):
            said, complaints = tools.run(
                "org.apache.kafka.tools.ProducerPerformance",
                *("--topic", topic, "--num-records", str(count), "--record-size", str(RECORD_BYTES)),
                *("--throughput", "-1", "--producer-props", f"bootstrap.servers={bench.broker.address}"),
            )
        *_, (sent, rate) = _PRODUCED.findall(said) or [("0", "0")]
        if int(sent) != count:
            raise WrongAnswerError(f"{sent} of {count} records were sent: {(complaints or said)[-300:]}")
        outcome.answers, outcome.client_cpu_us = count, None
        outcome.conclude(count, count / float(rate))
        return outcome


def java_consume(bench: Bench, *, replicas: int) -> ScenarioResult:
    """kafka-consumer-perf-test; the time is that which it tells for fetching."""
    with _topic(bench, replicas) as topic:
        tools, count = _tools(), _count(bench)
        _produce(bench, topic, count)
        outcome = ScenarioResult()
        with bench.cpu(outcome):
            said, complaints = tools.run(
                "org.apache.kafka.tools.ConsumerPerformance",
                *("--bootstrap-server", bench.broker.address, "--topic", topic, "--num-records", str(count)),
                *("--timeout", str(_PATIENCE_SECONDS * 1000), "--hide-header"),
            )
        lines = [line.split(",") for line in said.splitlines() if line.count(",") > 8]
        if not lines or int(lines[-1][4]) < count:
            raise WrongAnswerError(f"not all of {count} records were read: {(complaints or said)[-300:]}")
        outcome.answers, outcome.client_cpu_us = count, None
        outcome.conclude(count, count / float(lines[-1][9]))
        return outcome


def _count(bench: Bench) -> int:
    return int(RECORDS_A_SECOND * bench.seconds)


def _tools() -> Tools:
    try:
        return Tools(JAVA)
    except RealBrokerError as reason:
        raise NotOfferedError(str(reason)) from None


@contextmanager
def _topic(bench: Bench, replicas: int) -> Iterator[str]:
    with bench.topic("as-they-come", replicas) as (_, partition):
        yield partition.topic


def _timed(bench: Bench, count: int, work: Callable[[], None]) -> ScenarioResult:
    outcome = ScenarioResult(answers=count)
    with bench.cpu(outcome):
        start = clock()
        work()
        elapsed = clock() - start
    outcome.conclude(count, elapsed / 1e9)
    return outcome


def _produce(bench: Bench, topic: str, count: int) -> None:
    failed: list[KafkaError] = []

    def delivered(error: KafkaError | None, _: Message) -> None:
        if error is not None:
            failed.append(error)

    producer = Producer({"bootstrap.servers": bench.broker.address, "log_level": 0})
    value = bytes(RECORD_BYTES)
    for _ in range(count):
        while True:
            try:
                producer.produce(topic, value, partition=0, on_delivery=delivered)
                break
            except BufferError:
                producer.poll(0.1)
        producer.poll(0)
    left = producer.flush(_PATIENCE_SECONDS)
    if failed or left:
        raise WrongAnswerError(f"{len(failed)} records failed, {left} were not acknowledged: {failed[:1]}")


def _consume(bench: Bench, topic: str, count: int) -> None:
    consumer = Consumer(
        {"bootstrap.servers": bench.broker.address, "group.id": "as-they-come", "log_level": 0}
    )
    try:
        consumer.assign([TopicPartition(topic, 0, 0)])
        read, end = 0, time.monotonic() + _PATIENCE_SECONDS
        while read < count:
            for message in consumer.consume(1000, 1.0):
                if message.error():
                    raise WrongAnswerError(str(message.error()))
                if message.offset() != read:
                    raise WrongAnswerError(f"offset {message.offset()}, expected {read}")
                read += 1
            if time.monotonic() > end:
                raise WrongAnswerError(f"{read} of {count} records in {_PATIENCE_SECONDS} s")
    finally:
        consumer.close()
