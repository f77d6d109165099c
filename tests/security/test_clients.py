"""Real clients reach brokers by every protocol, and log in by every mechanism that they have, with the
settings that the cluster gives for them."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.errors import KafkaError
from confluent_kafka import KafkaException

from mockbroker import MockCluster, Security

from ..clients.kafka_python import KafkaConsumer, KafkaProducer, leaving_nothing
from ..driving.real_clients import LIMIT_S, a_consumer, a_producer, polled

USERS = {"alice": "secret", "bob": "other"}
SCRAM = ("SCRAM-SHA-256", "SCRAM-SHA-512")
TOPIC = "orders"
SENT = [b"order 1", b"order 2", b"x" * 200_000]


def confluent_kafka(settings: dict[str, Any]) -> list[bytes | None]:
    class Listening:
        bootstrap_servers = settings["bootstrap.servers"]

    producer = a_producer(Listening, **settings)
    for value in SENT:
        producer.produce(TOPIC, value)
    assert producer.flush(LIMIT_S) == 0
    consumer = a_consumer(Listening, "g", **settings)
    consumer.subscribe([TOPIC])
    try:
        return [message.value() for message in polled(consumer, len(SENT))]
    finally:
        consumer.close()


@leaving_nothing()
def kafka_python(settings: dict[str, Any]) -> list[bytes | None]:
    producer = KafkaProducer(**settings)
    for value in SENT:
        producer.send(TOPIC, value).get(LIMIT_S)
    producer.close()
    consumer = KafkaConsumer(TOPIC, group_id="g", auto_offset_reset="earliest", **settings)
    found = [next(consumer).value for _ in SENT]
    consumer.close()
    return found


async def _aiokafka(settings: dict[str, Any]) -> list[bytes | None]:
    async with asyncio.timeout(LIMIT_S), AIOKafkaProducer(**settings) as producer:
        for value in SENT:
            await producer.send_and_wait(TOPIC, value)
    consumer = AIOKafkaConsumer(TOPIC, group_id="g", auto_offset_reset="earliest", **settings)
    async with asyncio.timeout(LIMIT_S), consumer:
        return [(await consumer.getone()).value for _ in SENT]


def aiokafka(settings: dict[str, Any]) -> list[bytes | None]:
    return asyncio.run(_aiokafka(settings))


CLIENTS: dict[str, Callable[[dict[str, Any]], list[bytes | None]]] = {
    "confluent-kafka": confluent_kafka,
    "kafka-python": kafka_python,
    "aiokafka": aiokafka,
}


def principals(cluster: MockCluster) -> set[str]:
    found = set()
    for event in cluster.trace.events("login"):
        row = event.row()
        assert row["failure"] == "", row
        found.add(row["principal"])
    return found


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("tls", [False, True], ids=["plaintext", "tls"])
@pytest.mark.parametrize("mechanism", ["PLAIN", *SCRAM])
def test_a_user_logs_in(client: Any, tls: bool, mechanism: str) -> None:
    security = Security(tls=tls, sasl=mechanism, users=USERS)
    with MockCluster(security=security, topics={TOPIC: 1}, trace=True) as cluster:
        assert CLIENTS[client](cluster.client_settings(client, user="bob")) == SENT
        assert principals(cluster) == {"User:bob"}


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("version", ["TLSv1.2", "TLSv1.3"])
def test_tls(client: Any, version: str) -> None:
    config = {"ssl.enabled.protocols": version}
    security = Security(tls=True)
    with MockCluster(security=security, config=config, topics={TOPIC: 1}, trace=True) as cluster:
        assert CLIENTS[client](cluster.client_settings(client)) == SENT
        assert principals(cluster) == {"User:ANONYMOUS"}
        assert {event.row()["tls"].split()[0] for event in cluster.trace.events("login")} == {version}


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_shows_a_certificate(client: Any) -> None:
    security = Security(tls=True, client_auth="required")
    with MockCluster(security=security, topics={TOPIC: 1}, trace=True) as cluster:
        assert CLIENTS[client](cluster.client_settings(client)) == SENT
        assert principals(cluster) == {"User:CN=client,OU=clients,O=mockbroker"}


def test_an_unsecured_token() -> None:
    with MockCluster(security=Security(sasl="oauthbearer"), topics={TOPIC: 1}, trace=True) as cluster:
        assert confluent_kafka(cluster.client_settings("confluent-kafka", user="carol")) == SENT
        assert principals(cluster) == {"User:carol"}


@pytest.mark.parametrize("client", CLIENTS)
def test_each_listener_leads_to_itself(client: Any) -> None:
    listeners = {"INSIDE": "PLAINTEXT", "OUTSIDE": "SASL_SSL"}
    security = Security(sasl="plain", users=USERS, listeners=listeners)
    with MockCluster(security=security, topics={TOPIC: 1}, trace=True) as cluster:
        inside, outside = (cluster.client_settings(client, listener=each) for each in listeners)
        assert CLIENTS[client](outside) == SENT
        assert principals(cluster) == {"User:alice"}
        logins = len(cluster.trace.events("login"))
        assert CLIENTS[client](inside) == SENT
        assert len(cluster.trace.events("login")) == logins


def test_confluent_kafka_is_told_that_a_password_is_wrong() -> None:
    security = Security(sasl="scram-sha-512", users=USERS)
    with MockCluster(security=security, brokers=1, trace=True) as cluster:
        settings = {**cluster.client_settings("confluent-kafka"), "sasl.password": "wrong"}
        told: list[str] = []
        consumer = a_consumer(cluster, "g", error_cb=lambda error: told.append(error.str()), **settings)
        with pytest.raises(KafkaException):
            consumer.list_topics(timeout=2)
        consumer.poll(0)
        consumer.close()
        why = "Authentication failed during authentication due to invalid credentials"
        assert any(why in each for each in told), told
        assert {event.row()["failure"] for event in cluster.trace.events("login")} == {"another password"}


def test_aiokafka_is_told_that_a_password_is_wrong() -> None:
    async def connects(settings: dict[str, Any]) -> None:
        producer = AIOKafkaProducer(**settings)
        try:
            await producer.start()
        finally:
            await producer.stop()

    with MockCluster(security=Security(sasl="plain", users=USERS), brokers=1) as cluster:
        settings = {**cluster.client_settings("aiokafka"), "sasl_plain_password": "wrong"}
        with pytest.raises(KafkaError):
            asyncio.run(connects(settings))


def test_sessions_end_and_clients_log_in_again() -> None:
    """By librdkafka, which logs in again when nine tenths of the session are over."""
    security, config = Security(sasl="scram-sha-256", users=USERS), {"connections.max.reauth.ms": "1500"}
    with MockCluster(security=security, config=config, brokers=1, topics={TOPIC: 1}, trace=True) as cluster:
        settings = cluster.client_settings("confluent-kafka")
        problems: list[str] = []
        producer = a_producer(cluster, error_cb=lambda error: problems.append(error.str()), **settings)
        sent = 0
        while len(
            logins := [event.row()["connection"] for event in cluster.trace.events("login")]
        ) < 4 or len(set(logins)) == len(logins):
            producer.produce(TOPIC, b"x")
            assert producer.flush(LIMIT_S) == 0
            sent += 1
        assert not problems
        assert cluster.records(TOPIC)[-1].offset == sent - 1
