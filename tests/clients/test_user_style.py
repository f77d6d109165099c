"""A user's test, with five clients: the cluster that it wants, what goes wrong, and that it did."""

from __future__ import annotations

import asyncio
import logging
import subprocess
from collections.abc import Callable

import pytest
from aiokafka import AIOKafkaProducer
from confluent_kafka import Producer

from mockbroker import MockCluster
from mockbroker.clients.drivers.building import BuildError
from studies.clients.producers import JavaProducers

from .. import needs
from . import build
from . import kafka_python as kafka_client
from .test_kafkajs import install

COUNT = 4
LIMIT_S = 60.0
Send = Callable[[str], None]


def confluent(bootstrap: str) -> None:
    failed: list[object] = []
    quiet = logging.Logger("quiet", logging.CRITICAL)
    producer = Producer({"bootstrap.servers": bootstrap, "logger": quiet, "retry.backoff.ms": 20})
    for number in range(COUNT):
        producer.produce("orders", f"order {number}", on_delivery=lambda error, _: failed.append(error))
        producer.flush(LIMIT_S)
    assert failed == [None] * COUNT


def aiokafka(bootstrap: str) -> None:
    async def send() -> None:
        producer = AIOKafkaProducer(bootstrap_servers=bootstrap)
        await producer.start()
        for number in range(COUNT):
            await producer.send_and_wait("orders", b"order %d" % number)
        await producer.stop()

    asyncio.run(send())


def kafka_python(bootstrap: str) -> None:
    producer = kafka_client.KafkaProducer(bootstrap_servers=bootstrap, enable_idempotence=False)
    for number in range(COUNT):
        producer.send("orders", b"order %d" % number).get(LIMIT_S)
    producer.close()


def java(bootstrap: str) -> None:
    try:
        client = JavaProducers("4.4.0")
    except BuildError as error:
        needs.missing(str(error))
    try:
        producer = client.open("app", bootstrap, {"enable.idempotence": "false"})
        for number in range(COUNT):
            assert producer.send("orders", f"order {number}").result(LIMIT_S).error == ""
    finally:
        client.stop()


def kafkajs(bootstrap: str) -> None:
    node = needs.need("node")
    needs.need("npm")
    program = build.cached("node", "kafkajs", install) / "send.js"
    command = [node, str(program), bootstrap, "orders", str(COUNT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stderr


CLIENTS = pytest.mark.parametrize("send", [confluent, aiokafka, kafka_python, java, kafkajs])


@CLIENTS
@pytest.mark.mockbroker(
    kafka="3.9",
    topics={"orders": 1},
    config={"default.replication.factor": "3"},
    faults=[
        {"do": "disconnect", "api": "Produce", "topic": "orders", "when": "after", "times": 1},
        {"do": "move-leader", "api": "Produce", "topic": "orders", "nth": 3},
    ],
)
def test_orders_survive_a_lost_answer_and_a_new_leader(mock_cluster: MockCluster, send: Send) -> None:
    send(mock_cluster.bootstrap_servers)
    leader = mock_cluster.replicas("orders", 0)[1]
    assert (leader.state, leader.in_sync) == ("leader", True)
    # The first was written twice: none of these producers is idempotent.
    assert leader.log_end_offset == COUNT + 1
    refused = mock_cluster.trace.events("answer", api="Produce", errors=("NOT_LEADER_OR_FOLLOWER",))
    # Once for the move, and again for a client that resends before its metadata is new.
    assert {each.row()["names"] for each in refused} == {("orders-0",)}
