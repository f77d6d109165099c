"""What clients do when a request goes wrong: each cell of the table in docs/faults.md."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka import TopicPartition as AioPartition
from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer
from confluent_kafka import TopicPartition as Partition

from mockbroker import MockCluster
from mockbroker.clients.drivers.building import BuildError

from .. import needs
from . import kafka_python as kp
from .aio import Loop
from .java_producers import JavaProducers

PAGE: Final = Path(__file__).parents[2] / "docs" / "faults.md"
QUIET: Final = {"logger": logging.Logger("quiet", logging.CRITICAL)}
LIMIT_S: Final = 60.0
LONG_MS: Final = 30_000
SHORT_MS: Final = 4000
"""How long clients wait for an answer; short where none comes that they know. Others come within it."""

Result = Callable[[], str]
"""Waits for the end of a send: empty, or the name of what was raised."""
Send = Callable[[bytes], Result]
Read = tuple[list[bytes], list[str]]
"""Values in the order in which they were read, and the names of what was raised meanwhile."""


@contextmanager
def confluent_sends(servers: str, patience_ms: int) -> Iterator[Send]:
    limits = {"request.timeout.ms": patience_ms, "socket.timeout.ms": patience_ms, "retry.backoff.ms": 20}
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 0, **limits, **QUIET})

    def send(value: bytes) -> Result:
        told: list[str] = []
        producer.produce("orders", value, on_delivery=lambda e, _: told.append(e.name() if e else ""))

        def result() -> str:
            producer.flush(LIMIT_S)
            return told[0]

        return result

    yield send


@contextmanager
def aiokafka_sends(servers: str, patience_ms: int) -> Iterator[Send]:
    with Loop() as loop:

        async def started() -> AIOKafkaProducer:
            producer = AIOKafkaProducer(
                bootstrap_servers=servers, request_timeout_ms=patience_ms, retry_backoff_ms=20
            )
            await producer.start()
            return producer

        producer = loop.run(started())

        def send(value: bytes) -> Result:
            sent = loop.run(producer.send("orders", value))

            async def wait() -> None:
                await sent

            return lambda: raised_by(lambda: loop.run(wait()))

        try:
            yield send
        finally:
            loop.run(producer.stop())


@contextmanager
def kafka_python_sends(servers: str, patience_ms: int) -> Iterator[Send]:
    producer = kp.KafkaProducer(
        bootstrap_servers=servers, request_timeout_ms=patience_ms, retry_backoff_ms=20
    )

    def send(value: bytes) -> Result:
        try:
            sent = producer.send("orders", value)
        except Exception as error:
            name = type(error).__name__
            return lambda: name
        return lambda: raised_by(lambda: sent.get(LIMIT_S))

    try:
        yield send
    finally:
        producer.close(timeout=5)


@contextmanager
def java_sends(servers: str, patience_ms: int) -> Iterator[Send]:
    for tool in ("java", "javac", "mvn"):
        needs.need(tool)
    try:
        client = JavaProducers("4.4.0")
    except BuildError as error:
        needs.missing(str(error))
    config = {
        "request.timeout.ms": str(patience_ms),
        "delivery.timeout.ms": str(2 * patience_ms),
        "retry.backoff.ms": "20",
        "linger.ms": "0",
    }
    try:
        producer = client.open("app", servers, config)

        def send(value: bytes) -> Result:
            sent = producer.send("orders", value.decode())
            return lambda: sent.result(LIMIT_S).error

        yield send
    finally:
        client.stop()


@pytest.fixture(autouse=True, scope="module")
def _warm() -> None:
    """What brokers and clients import at first use counts for no client's patience."""
    with MockCluster(brokers=1, topics={"orders": 1}, trace=True) as cluster:
        with confluent_sends(cluster.bootstrap_servers, LONG_MS) as send:
            assert send(b"1")() == ""
        assert confluent_reads(cluster.bootstrap_servers, 1, LONG_MS) == ([b"1"], [])


def raised_by(action: Callable[[], object]) -> str:
    try:
        action()
    except Exception as error:
        return type(error).__name__
    return ""


def confluent_reads(servers: str, count: int, patience_ms: int) -> Read:
    limits = {"socket.timeout.ms": patience_ms, "fetch.wait.max.ms": 100, "check.crcs": True}
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "g", **limits, **QUIET})
    consumer.assign([Partition("orders", 0, OFFSET_BEGINNING)])
    found: Read = [], []
    while len(found[0]) < count:
        message = consumer.poll(LIMIT_S)
        assert message is not None, found
        if (error := message.error()) is not None:
            found[1].append(error.name())
        else:
            found[0].append(message.value() or b"")
    consumer.close()
    return found


def aiokafka_reads(servers: str, count: int, patience_ms: int) -> Read:
    async def read() -> Read:
        consumer = AIOKafkaConsumer(
            bootstrap_servers=servers, request_timeout_ms=patience_ms, fetch_max_wait_ms=100
        )
        await consumer.start()
        consumer.assign([AioPartition("orders", 0)])
        await consumer.seek_to_beginning()
        found: Read = [], []
        while len(found[0]) < count:
            try:
                found[0].append((await consumer.getone()).value)
            except Exception as error:
                found[1].append(type(error).__name__)
        await consumer.stop()
        return found

    with Loop() as loop:
        return loop.run(read())


def kafka_python_reads(servers: str, count: int, patience_ms: int) -> Read:
    waits = {"request_timeout_ms": patience_ms, "session_timeout_ms": 1000, "heartbeat_interval_ms": 300}
    consumer = kp.KafkaConsumer(bootstrap_servers=servers, fetch_max_wait_ms=100, **waits)
    consumer.assign([kp.TopicPartition("orders", 0)])
    consumer.seek_to_beginning()
    found: Read = [], []
    while len(found[0]) < count:
        try:
            for messages in consumer.poll(1000).values():
                found[0].extend(message.value for message in messages)
        except Exception as error:
            found[1].append(type(error).__name__)
    consumer.close()
    return found


SENDERS: Final[dict[str, Callable[[str, int], AbstractContextManager[Send]]]] = {
    "confluent-kafka": confluent_sends,
    "aiokafka": aiokafka_sends,
    "kafka-python": kafka_python_sends,
    "Java 4.4": java_sends,
}
READERS: Final[dict[str, Callable[[str, int, int], Read]]] = {
    "confluent-kafka": confluent_reads,
    "aiokafka": aiokafka_reads,
    "kafka-python": kafka_python_reads,
}
ANSWERS: Final[dict[str, dict[str, Any]]] = {
    "half an answer": {"do": "half-answer"},
    "a reset": {"do": "reset", "when": "after"},
    "another correlation id": {"do": "wrong-correlation-id"},
    "silence": {"do": "silence", "when": "after"},
    "a throttle time": {"do": "throttle", "ms": 100},
    "an unknown error code": {"do": "error", "error": 9999},
    "a corrupt CRC": {"do": "corrupt-crc"},
    "a truncated batch": {"do": "truncated-batch"},
}
SWAPPED: Final = "answers in another order"
UNANSWERED: Final = ("another correlation id", "silence", SWAPPED)
STALE: Final = "old metadata"
HANGS: Final = "`poll` does not return"
"""No test waits for that."""


def table(title: str) -> list[tuple[str, str, str]]:
    """Fault, client and what it does, of each cell of a table of the page."""
    _, _, rest = PAGE.read_text().partition(f"{title}\n\n")
    header, _, *rows = (line for line in rest.partition("\n\n")[0].splitlines())
    _, *clients = [cell.strip() for cell in header.strip("|").split("|")]
    found = []
    for row in rows:
        fault, *cells = [cell.strip() for cell in row.strip("|").split("|")]
        found += [(fault, client, cell) for client, cell in zip(clients, cells, strict=True)]
    return found


SENDING: Final = table("A producer, when the fault strikes one Produce:")
READING: Final = table("A consumer, when the fault strikes one Fetch:")


def patience_ms(fault: str, outcome: str) -> int:
    return SHORT_MS if fault in UNANSWERED and not outcome.startswith("as usual") else LONG_MS


def check(outcome: str, results: list[str], cluster: MockCluster) -> None:
    """Whether two records went as it is told; a client may have sent them more often than it had to."""
    requests = len(cluster.trace.events("request", api="Produce"))
    leader = cluster.run(lambda core: core.topics["orders"].partitions[0].leader)
    [end] = [each.log_end_offset for each in cluster.replicas("orders", 0) if each.broker == leader]
    if outcome.startswith("`"):
        _, error, rest = outcome.split("`")
        assert results == [error, error if rest else ""]
        return
    assert results == ["", ""]
    match outcome:
        case "as usual":
            assert end == 2
        case "sends again, written once":
            assert (end, requests > 2) == (2, True)
        case "sends again, written twice":
            assert end > 2
        case _:
            pytest.fail(f"the page says {outcome!r}")


@pytest.mark.parametrize(("fault", "client", "outcome"), [row for row in SENDING if row[0] in ANSWERS])
def test_a_producer(fault: str, client: str, outcome: str) -> None:
    with MockCluster(brokers=1, topics={"orders": 1}, trace=True) as cluster:
        strikes = cluster.faults.add(**ANSWERS[fault], api="Produce", times=1)
        with SENDERS[client](cluster.bootstrap_servers, patience_ms(fault, outcome)) as send:
            results = [send(b"1")(), send(b"2")()]
        assert strikes.hits == 1
        check(outcome, results, cluster)


@pytest.mark.parametrize(("fault", "client", "outcome"), [row for row in SENDING if row[0] == SWAPPED])
def test_answers_in_another_order(fault: str, client: str, outcome: str) -> None:
    """The first answer waits for the second, where the client sends a second request before it."""
    alone = outcome.endswith(", one at a time")
    with MockCluster(brokers=1, topics={"orders": 1}, trace=True) as cluster:
        wait_ms = 100 if alone else LONG_MS * 2
        strikes = cluster.faults.add("reorder", api="Produce", times=1, ms=wait_ms)
        with SENDERS[client](cluster.bootstrap_servers, patience_ms(fault, outcome)) as send:
            first = send(b"1")
            strikes.wait()
            second = send(b"2")
            results = [first(), second()]
        check(outcome.removesuffix(", one at a time"), results, cluster)


@pytest.mark.parametrize(("fault", "client", "outcome"), [row for row in SENDING if row[0] == STALE])
def test_old_metadata(fault: str, client: str, outcome: str) -> None:
    """The producer asks the leader that was, until it is told of the one that is."""
    config = {"default.replication.factor": "2"}
    with MockCluster(brokers=2, topics={"orders": 1}, config=config, trace=True) as cluster:
        old = cluster.faults.add("stale-metadata")
        cluster.move_leader("orders", 0)
        with SENDERS[client](cluster.bootstrap_servers, LONG_MS) as send:
            first = send(b"1")
            cluster.trace.wait("answer", api="Produce", errors=("NOT_LEADER_OR_FOLLOWER",))
            old.remove()
            results = [first(), send(b"2")()]
        check(outcome, results, cluster)


@pytest.mark.parametrize(("fault", "client", "outcome"), [row for row in READING if row[2] != HANGS])
def test_a_consumer(fault: str, client: str, outcome: str) -> None:
    with MockCluster(brokers=1, topics={"orders": 1}) as cluster:
        with confluent_sends(cluster.bootstrap_servers, LONG_MS) as send:
            assert [send(value)() for value in (b"1", b"2", b"3")] == ["", "", ""]
        strikes = cluster.faults.add(**ANSWERS[fault], api="Fetch", topic="orders", times=1)
        values, raised = READERS[client](cluster.bootstrap_servers, 3, patience_ms(fault, outcome))
        assert strikes.hits == 1
    assert values == [b"1", b"2", b"3"]
    error = outcome.split("`")[1:2]
    assert outcome in ("reads on", *(f"`{name}`, then reads on" for name in error))
    assert raised == error


def test_every_fault_has_its_row() -> None:
    faults = {fault for fault, _, _ in (*SENDING, *READING)}
    assert faults == {*ANSWERS, SWAPPED, STALE}
    assert {client for _, client, _ in SENDING} == set(SENDERS)
    assert {client for _, client, _ in READING} == set(READERS)
