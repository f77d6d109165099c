"""Idempotent producers that outlive their records, or lost them (KIP-185, KAFKA-7190, KIP-360).

What is expected stands in docs/forgotten-producers.md, with why: each row of its tables is a test here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient

from mockbroker import MockCluster, unchecked
from mockbroker.rig.waiting import wait_for

from .. import needs
from ..turns import in_turn
from .forgetting import (
    BROKERS,
    CLIENTS,
    CONFLUENT,
    IN_TRANSACTION,
    JAVAS,
    NOT_UNDERSTOOD,
    TOPIC,
    ConfluentSender,
    JavaSender,
    Scene,
    speaks,
)
from .forgotten_stories import OLD_AND_NEW, STORIES, Story
from .java_producers import JavaProducers, Producer, Reply
from .scenario import TIMEOUT

PAGE = Path(__file__).parents[2] / "docs" / "forgotten-producers.md"
ZOMBIES = "A zombie whose state was deleted"
Javas = Callable[[str], JavaProducers]


def tables() -> dict[str, dict[str, dict[str, str]]]:
    """The page's tables: title, client, broker, and what happens."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    title = ""
    columns: list[str] = []
    for line in PAGE.read_text().splitlines():
        if line.startswith("## "):
            title, columns = line.removeprefix("## "), []
        elif line.startswith("|") and not line.startswith("|--"):
            first, *cells = [cell.strip() for cell in line.strip("|").split("|")]
            if first == "client":
                columns = cells
            elif columns:
                found.setdefault(title, {})[first] = dict(zip(columns, cells, strict=True))
    return found


EXPECTED = tables()


@pytest.fixture(scope="module")
def javas() -> Iterator[Javas]:
    """One JVM for each version, started on first use."""
    running: dict[str, JavaProducers] = {}

    def get(name: str) -> JavaProducers:
        for tool in ("java", "javac", "mvn"):
            needs.need(tool)
        if name not in running:
            running[name] = JavaProducers(name.removeprefix("Java "))
        return running[name]

    yield get
    for each in running.values():
        each.stop()


def cluster(broker: str, config: dict[str, str] | None = None) -> MockCluster:
    """Three brokers: two have the topic, and transactions go on when one of them is down."""
    kafka, policies = BROKERS[broker]
    return MockCluster(kafka=unchecked(kafka), brokers=3, config=config or {}, policies=unchecked(policies))


def sender(client: str, javas: Javas, bootstrap: str) -> ConfluentSender | JavaSender:
    if client == CONFLUENT:
        return ConfluentSender(bootstrap)
    return JavaSender(javas(client.removesuffix(IN_TRANSACTION)), bootstrap, IN_TRANSACTION in client)


def create_topic(running: MockCluster) -> None:
    running.run(lambda core: core.create_topic(TOPIC, [[1, 2]]))


def happens(story: Story, client: str, javas: Javas, broker: str) -> str:
    if not speaks(client, broker):
        return NOT_UNDERSTOOD
    with cluster(broker, dict(story.config)) as running:
        create_topic(running)
        one = sender(client, javas, running.bootstrap_servers)
        try:
            scene = Scene(running, one)
            return scene.afterwards(story.tell(scene))
        finally:
            one.close()


@pytest.mark.parametrize("client", in_turn(CLIENTS, 3))
@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.tell.__name__)
def test_what_happens_stands_on_the_page(story: Story, client: str, javas: Javas) -> None:
    found = {broker: happens(story, client, javas, broker) for broker in story.brokers}
    assert found == EXPECTED[story.title][client]


def test_the_page_has_every_client() -> None:
    assert list(EXPECTED) == [*(story.title for story in STORIES), ZOMBIES]
    for story in STORIES:
        assert list(EXPECTED[story.title]) == list(CLIENTS)
    assert list(EXPECTED[ZOMBIES]) == list(JAVAS)


@pytest.mark.parametrize("client", JAVAS)
def test_a_zombie_whose_state_was_deleted(client: str, javas: Javas) -> None:
    """KIP-360's third problem, with real clients from end to end."""
    found = {broker: zombie(javas(client), broker) for broker in OLD_AND_NEW}
    assert found == EXPECTED[ZOMBIES][client]


def zombie(java: JavaProducers, broker: str) -> str:
    """A producer in a transaction, another instance that aborts it, DeleteRecords; then the first goes on."""
    with cluster(broker) as running:
        create_topic(running)
        old = JavaSender(java, running.bootstrap_servers, transactional=True)
        scene = Scene(running, old)
        scene.acknowledged(1)
        new = java.open(f"{old.name}-new", running.bootstrap_servers, {"transactional.id": old.name})
        assert new.ask("init") == Reply()
        wait_for("the abort's marker", lambda: scene.end_offset(1) == 2)
        delete_records(running, 2)
        reply = scene.send("z")
        told = scene.told("z", reply)
        # Nor can it end what it began.
        assert old.producer.ask("commit").error
        assert stable_offset(running) == 2
        stuck = scene.end_offset(1) > 2
        assert commits(new, running) == (["z", "n"] if stuck else ["n"])
        old.close()
        new.close()
    return f"{told}, and the last stable offset stays" if stuck else told


def commits(new: Producer, running: MockCluster) -> list[str]:
    """What a read_committed consumer finds once the new instance has committed `n`."""
    assert new.ask("begin") == Reply()
    last = new.send(TOPIC, "n").result(TIMEOUT).offset
    assert new.ask("commit") == Reply()
    consumer = Consumer(
        {
            "bootstrap.servers": running.bootstrap_servers,
            "group.id": "g",
            "isolation.level": "read_committed",
            "auto.offset.reset": "earliest",
        }
    )
    consumer.assign([TopicPartition(TOPIC, 0, 2)])
    found: list[str] = []
    offset: int | None = None
    while offset != last:
        message = consumer.poll(TIMEOUT)
        assert message is not None, f"only {found} came"
        assert message.error() is None
        offset = message.offset()
        found.append((message.value() or b"").decode())
    consumer.close()
    return found


def stable_offset(running: MockCluster) -> int:
    return running.run(lambda core: core.topics[TOPIC].partitions[0].log.last_stable_offset)


def delete_records(running: MockCluster, offset: int) -> None:
    admin = AdminClient({"bootstrap.servers": running.bootstrap_servers})
    (done,) = admin.delete_records([TopicPartition(TOPIC, 0, offset)]).values()
    assert done.result(TIMEOUT).low_watermark == offset


def expire(running: MockCluster, offset: int) -> None:
    """Retention by time."""
    running.run(lambda core: core.topics[TOPIC].configure({"retention.ms": "1"}))
    wait_for("retention", lambda: running.replicas(TOPIC, 0)[0].log_start_offset == offset)


@pytest.mark.needs(*needs.JAVA)
@pytest.mark.parametrize("take", [delete_records, expire])
@pytest.mark.parametrize("broker", ["0.11", "2.3"])
def test_it_makes_no_difference_who_deletes(
    take: Callable[[MockCluster, int], None], broker: str, javas: Javas
) -> None:
    config = {"log.initial.task.delay.ms": "0", "log.retention.check.interval.ms": "20"}
    with cluster(broker, config) as running:
        create_topic(running)
        one = JavaSender(javas("Java 2.3.1"), running.bootstrap_servers)
        scene = Scene(running, one)
        scene.acknowledged(3)
        take(running, 3)
        reply = scene.send("b0")
        one.close()
    assert reply.error == ("OutOfOrderSequenceException" if broker == "0.11" else "")


@pytest.mark.parametrize("client", JAVAS[:2])
def test_without_a_log_start_offset_a_client_asks_again_and_again(client: str, javas: Javas) -> None:
    """The story's point 4 needs it, and Produce has it since v5: 1.0 brought error and field together."""
    with MockCluster(kafka="0.11", policies={"unknown-producer": "unknown-producer-id"}) as running:
        running.run(lambda core: core.create_topic(TOPIC, [[1]]))
        first = JavaSender(javas(client), running.bootstrap_servers)
        # What client and broker load at first use takes none of the time that is limited.
        assert first.start("first").result(TIMEOUT) == Reply(0)
        first.close()
        limits = {"delivery.timeout.ms": "4000", "request.timeout.ms": "3000"}
        one = JavaSender(javas(client), running.bootstrap_servers, config=limits)
        scene = Scene(running, one)
        scene.acknowledged(1)
        scene.delete_records()
        reply = scene.send("b0")
        warned = [line for line in one.producer.log if "UNKNOWN_PRODUCER_ID" in line]
        one.close()
    # The time is up while it waits to ask again, or with the answer that came last.
    assert reply.error in ("TimeoutException", "UnknownProducerIdException")
    assert len(warned) > 1


@pytest.mark.parametrize("client", JAVAS[1:])
def test_newer_clients_tell_of_a_loss_in_their_log_alone(client: str, javas: Javas) -> None:
    """KIP-360: an idempotent producer bumps its epoch and goes on, whatever was lost."""
    (story,) = (each for each in STORIES if each.title == "Acknowledged records are lost")
    with cluster("4.4", dict(story.config)) as running:
        create_topic(running)
        one = JavaSender(javas(client), running.bootstrap_servers)
        reply = story.tell(Scene(running, one))
        one.close()
    assert reply.error == ""
    assert any("OUT_OF_ORDER_SEQUENCE_NUMBER" in line for line in one.producer.log)
