"""What clients do when a request goes wrong: each cell of the table in docs/faults.md."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from mockbroker import MockCluster
from mockbroker.clients.drivers.in_thread import Client as Driven
from mockbroker.clients.drivers.lines import refusal

from .driven import Client
from .java_producers import QUICK

PAGE: Final = Path(__file__).parents[2] / "docs" / "faults.md"
LIMIT_S: Final = 60.0
LONG_MS: Final = 30_000
SHORT_MS: Final = 4000
"""How long clients wait for an answer; short where none comes that they know. Others come within it."""

Result = Callable[[], str]
"""Waits for the end of a send: empty, or the name of what was raised."""
Send = Callable[[bytes], Result]
Read = tuple[list[bytes], list[str]]
"""Values in the order in which they were read, and the names of what was raised meanwhile."""
Start = Callable[[str], Driven]
CLIENTS: Final = {
    "confluent-kafka": ("confluent-kafka", None),
    "aiokafka": ("aiokafka", None),
    "kafka-python": ("kafka-python", None),
    "Java 4.4": ("java", "4.4.0"),
}
"""Drivers and versions, by the names that the page has."""


@pytest.fixture(scope="module")
def start(clients: Callable[..., Driven]) -> Start:
    return lambda client: clients(*CLIENTS[client])


@contextmanager
def sending(driven: Driven, servers: str, patience_ms: int) -> Iterator[Send]:
    config: dict[str, Any] = {"linger.ms": 0, "request.timeout.ms": patience_ms, "retry.backoff.ms": 20}
    if driven.name.startswith("kafka-clients"):
        config = {**QUICK, **config, "delivery.timeout.ms": 2 * patience_ms}
    client = Client(driven, servers)
    producer = client.open("producer", config)

    def send(value: bytes) -> Result:
        sent = client.send(producer, "orders", value)

        def result() -> str:
            error = sent.result(LIMIT_S).error
            return "" if error is None else error.name

        return result

    yield send
    client.close(producer)


@pytest.fixture(scope="module", autouse=True)
def _warm(start: Start) -> None:
    """What brokers and clients import at first use counts for no client's patience."""
    with MockCluster(brokers=1, topics={"orders": 1}, trace=True) as cluster:
        with sending(start("confluent-kafka"), cluster.bootstrap_servers, LONG_MS) as send:
            assert send(b"1")() == ""
        assert reading(start("confluent-kafka"), cluster.bootstrap_servers, 1, LONG_MS) == ([b"1"], [])


def reading(driven: Driven, servers: str, count: int, patience_ms: int) -> Read:
    client = Client(driven, servers)
    config = {
        "auto.offset.reset": "earliest",
        "check.crcs": True,
        "fetch.max.wait.ms": 100,
        "request.timeout.ms": patience_ms,
    }
    consumer = client.open("consumer", config)
    driven.call("assign", consumer, partitions=[["orders", 0]])
    found: Read = [], []
    while len(found[0]) < count:
        answer = driven.send("poll", consumer, 200).result(LIMIT_S)
        polled = answer.ok or {"records": ()}
        found[0].extend(base64.b64decode(each["value"]) for each in polled["records"])
        errors = map(refusal, polled.get("errors", ())) if answer.error is None else [answer.error]
        found[1].extend(each.name for each in errors)
    client.close(consumer)
    return found


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
def test_a_producer(start: Start, fault: str, client: str, outcome: str) -> None:
    with MockCluster(brokers=1, topics={"orders": 1}, trace=True) as cluster:
        strikes = cluster.faults.add(**ANSWERS[fault], api="Produce", times=1)
        with sending(start(client), cluster.bootstrap_servers, patience_ms(fault, outcome)) as send:
            results = [send(b"1")(), send(b"2")()]
        assert strikes.hits == 1
        check(outcome, results, cluster)


@pytest.mark.parametrize(("fault", "client", "outcome"), [row for row in SENDING if row[0] == SWAPPED])
def test_answers_in_another_order(start: Start, fault: str, client: str, outcome: str) -> None:
    """The first answer waits for the second, where the client sends a second request before it."""
    alone = outcome.endswith(", one at a time")
    with MockCluster(brokers=1, topics={"orders": 1}, trace=True) as cluster:
        wait_ms = 100 if alone else LONG_MS * 2
        strikes = cluster.faults.add("reorder", api="Produce", times=1, ms=wait_ms)
        with sending(start(client), cluster.bootstrap_servers, patience_ms(fault, outcome)) as send:
            first = send(b"1")
            strikes.wait()
            second = send(b"2")
            results = [first(), second()]
        check(outcome.removesuffix(", one at a time"), results, cluster)


@pytest.mark.parametrize(("fault", "client", "outcome"), [row for row in SENDING if row[0] == STALE])
def test_old_metadata(start: Start, fault: str, client: str, outcome: str) -> None:
    """The producer asks the leader that was, until it is told of the one that is."""
    config = {"default.replication.factor": "2"}
    with MockCluster(brokers=2, topics={"orders": 1}, config=config, trace=True) as cluster:
        old = cluster.faults.add("stale-metadata")
        cluster.move_leader("orders", 0)
        with sending(start(client), cluster.bootstrap_servers, LONG_MS) as send:
            first = send(b"1")
            cluster.trace.wait("answer", api="Produce", errors=("NOT_LEADER_OR_FOLLOWER",))
            old.remove()
            results = [first(), send(b"2")()]
        check(outcome, results, cluster)


@pytest.mark.parametrize(("fault", "client", "outcome"), [row for row in READING if row[2] != HANGS])
def test_a_consumer(start: Start, fault: str, client: str, outcome: str) -> None:
    with MockCluster(brokers=1, topics={"orders": 1}) as cluster:
        with sending(start("confluent-kafka"), cluster.bootstrap_servers, LONG_MS) as send:
            assert [send(value)() for value in (b"1", b"2", b"3")] == ["", "", ""]
        strikes = cluster.faults.add(**ANSWERS[fault], api="Fetch", topic="orders", times=1)
        values, raised = reading(start(client), cluster.bootstrap_servers, 3, patience_ms(fault, outcome))
        assert strikes.hits == 1
    assert values == [b"1", b"2", b"3"]
    error = outcome.split("`")[1:2]
    assert outcome in ("reads on", *(f"`{name}`, then reads on" for name in error))
    assert raised == error


def test_every_fault_has_its_row() -> None:
    faults = {fault for fault, _, _ in (*SENDING, *READING)}
    assert faults == {*ANSWERS, SWAPPED, STALE}
    assert {client for _, client, _ in SENDING} == set(CLIENTS)
    assert {client for _, client, _ in READING} == set(CLIENTS) - {"Java 4.4"}
