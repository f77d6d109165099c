"""A producer bumps its epoch, and the answer is lost: what clients make of both answers of `last-epoch`.

The coordinator has bumped; the client asks again with the epoch before. The same coordinator answers as the
first time. Another one, which took over meanwhile, knows of no epoch before under `in-memory`, as every
release has it: the producer is fenced though there is no other, for good. Under `persisted` nobody notices
(KIP-360).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, Literal, NamedTuple, Protocol

import pytest
from confluent_kafka import KafkaError, KafkaException, Message
from confluent_kafka import Producer as RealProducer

from mockbroker import ErrorName, MockCluster, ReleaseName
from mockbroker.clients.drivers.building import BuildError
from mockbroker.cluster.cluster import Cluster

from .. import needs
from .java_producers import JavaProducers, Reply
from .scenario import TIMEOUT

NAME: Final = "tx"
TOPIC: Final = "t"
Answer = Literal["in-memory", "persisted"]
_LOGGER: Final = logging.Logger("lost", logging.CRITICAL)


class Sender(Protocol):
    """A transactional producer."""

    def ask(self, command: str, topic: str | None = None) -> Reply: ...

    def send(self, topic: str, value: str) -> Future[Reply]: ...

    def close(self) -> None: ...


class Confluent:
    """librdkafka's, told as the Java producer is."""

    def __init__(self, bootstrap: str) -> None:
        self._producer = RealProducer(
            {
                "bootstrap.servers": bootstrap,
                "transactional.id": NAME,
                "linger.ms": 0,
                "reconnect.backoff.ms": 20,
                "reconnect.backoff.max.ms": 20,
                "retry.backoff.ms": 20,
                "logger": _LOGGER,
            }
        )

    def ask(self, command: str, topic: str | None = None) -> Reply:
        try:
            match command:
                case "init":
                    self._producer.init_transactions(TIMEOUT)
                case "begin":
                    self._producer.begin_transaction()
                case "commit":
                    self._producer.commit_transaction(TIMEOUT)
                case "abort":
                    self._producer.abort_transaction(TIMEOUT)
        except KafkaException as error:
            return Reply(error=error.args[0].name(), text=error.args[0].str())
        return Reply()

    def send(self, topic: str, value: str) -> Future[Reply]:
        done: Future[Reply] = Future()

        def delivered(error: KafkaError | None, message: Message) -> None:
            done.set_result(Reply(error=error.name()) if error else Reply(message.offset() or 0))

        self._producer.produce(topic, value, partition=0, on_delivery=delivered)
        self._producer.flush(TIMEOUT)
        return done

    def close(self) -> None:
        """It has nothing to close."""


class Client(NamedTuple):
    """`refusal` is an error of Produce after which it wants another epoch, `fenced` what it says when it
    is."""

    refusal: ErrorName
    fenced: str


CLIENTS: Final = {
    "librdkafka": Client("UNKNOWN_PRODUCER_ID", "_FENCED"),
    "Java 2.8.2": Client("INVALID_RECORD", "ProducerFencedException"),
    "Java 4.4.0": Client("INVALID_RECORD", "ProducerFencedException"),
}
BROKERS: Final = {
    "librdkafka": ("2.8", "3.9", "4.4"),
    "Java 2.8.2": ("3.9", "4.4"),
    "Java 4.4.0": ("2.8", "3.9"),
}
"""Not Java 4.4 with 4.4: see `test_where_each_end_bumps_nothing_is_asked`."""
CASES: Final = [(client, kafka) for client in CLIENTS for kafka in BROKERS[client]]
Make = Callable[[str, str], Sender]


@pytest.fixture(scope="module")
def make() -> Iterator[Make]:
    """A producer of a client: name and brokers. One JVM for each version."""
    running: dict[str, JavaProducers] = {}
    opened: list[Sender] = []

    def get(client: str, bootstrap: str) -> Sender:
        if client == "librdkafka":
            return Confluent(bootstrap)
        if client not in running:
            try:
                running[client] = JavaProducers(client.removeprefix("Java "))
            except BuildError as error:
                needs.missing(str(error))
        opened.append(running[client].open(f"p{len(opened)}", bootstrap, {"transactional.id": NAME}))
        return opened[-1]

    yield get
    for each in running.values():
        each.stop()


def epochs(core: Cluster) -> tuple[int, int]:
    """The epoch and the last one, of the transactional id."""
    now = core.brokers[core.transaction_partition(NAME).leader].transactions.find(NAME)
    assert now is not None
    return now.epoch, now.last_epoch


def wants_a_bump(running: MockCluster, one: Sender, client: str) -> None:
    """Its transaction has failed: it is going to abort that and to ask for the next epoch."""
    running.run(lambda core: core.create_topic(TOPIC, [[1, 2, 3]]))
    assert one.ask("init") == one.ask("begin") == Reply()
    assert not one.send(TOPIC, "a").result(TIMEOUT).error
    with running.faults.add("error", api="Produce", error=CLIENTS[client].refusal, times=1):
        assert one.send(TOPIC, "b").result(TIMEOUT).error
    # The Java producer tells of the failure first, and then takes note of it (`Sender.failBatch`): before its
    # thread asks for metadata.
    assert one.ask("partitions", "__transaction_state") == Reply()
    assert running.run(epochs) == (0, -1)


def goes_on(one: Sender) -> None:
    assert one.ask("begin") == Reply()
    assert not one.send(TOPIC, "c").result(TIMEOUT).error
    assert one.ask("commit") == Reply()


@pytest.mark.parametrize(("client", "kafka"), CASES)
@pytest.mark.parametrize("answer", ["in-memory", "persisted"])
def test_the_same_coordinator_answers_again(
    make: Make, client: str, kafka: ReleaseName, answer: Answer
) -> None:
    with MockCluster(kafka=kafka, brokers=3, policies={"last-epoch": answer}) as running:
        one = make(client, running.bootstrap_servers)
        wants_a_bump(running, one, client)
        lost = running.faults.add("disconnect", api="InitProducerId", when="after", times=1)
        assert one.ask("abort") == Reply()
        assert lost.hits == 1
        assert running.run(epochs) == (1, 0)
        goes_on(one)
        one.close()


@pytest.mark.parametrize(("client", "kafka"), CASES)
@pytest.mark.parametrize("answer", ["in-memory", "persisted"])
def test_another_coordinator_answers(make: Make, client: str, kafka: ReleaseName, answer: Answer) -> None:
    with (
        MockCluster(kafka=kafka, brokers=3, policies={"last-epoch": answer}) as running,
        ThreadPoolExecutor(1) as aside,
    ):
        one = make(client, running.bootstrap_servers)
        wants_a_bump(running, one, client)
        lost = running.faults.add("disconnect", api="InitProducerId", when="after", times=1)
        again = running.faults.add("hold", api="InitProducerId", nth=2)
        aborted = aside.submit(one.ask, "abort")
        again.wait()
        assert running.run(epochs) == (1, 0)
        assert running.move_coordinator(transactional_id=NAME)
        again.release()
        reply = aborted.result(TIMEOUT)
        assert lost.hits == 1
        if answer == "persisted":
            assert reply == Reply()
            assert running.run(epochs) == (1, 0)
            goes_on(one)
        else:
            assert reply.error == CLIENTS[client].fenced
            # Nobody has fenced it; and it can't do anything any more.
            assert running.run(epochs) == (1, -1)
            assert one.ask("begin").error == CLIENTS[client].fenced
            assert one.ask("abort").error == CLIENTS[client].fenced
        one.close()


@pytest.mark.needs(*needs.JAVA)
def test_where_each_end_bumps_nothing_is_asked(make: Make) -> None:
    """KIP-890: the client has its next epoch from EndTxn."""
    with MockCluster(kafka="4.4", brokers=3) as running:
        one = make("Java 4.4.0", running.bootstrap_servers)
        wants_a_bump(running, one, "Java 4.4.0")
        asked = running.faults.add("disconnect", api="InitProducerId")
        assert one.ask("abort") == Reply()
        assert running.run(epochs) == (1, 0)
        goes_on(one)
        assert asked.hits == 0
        one.close()


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("answer", ["in-memory", "persisted"])
def test_a_new_instance_that_gets_no_answer(make: Make, client: str, answer: Answer) -> None:
    """It has no epoch to ask again with: it skips one, whoever coordinates."""
    with (
        MockCluster(kafka="4.4", brokers=3, policies={"last-epoch": answer}) as running,
        ThreadPoolExecutor(1) as aside,
    ):
        running.run(lambda core: core.create_topic(TOPIC, [[1, 2, 3]]))
        one = make(client, running.bootstrap_servers)
        lost = running.faults.add("disconnect", api="InitProducerId", when="after", times=1)
        again = running.faults.add("hold", api="InitProducerId", nth=2)
        begun = aside.submit(one.ask, "init")
        again.wait()
        assert running.run(epochs) == (0, -1)
        assert running.move_coordinator(transactional_id=NAME)
        again.release()
        assert begun.result(TIMEOUT) == Reply()
        assert lost.hits == 1
        assert running.run(epochs) == (1, -1)
        goes_on(one)
        one.close()
