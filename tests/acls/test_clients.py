"""Real clients are told what they may not do, and go on once they may."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.errors import TopicAuthorizationFailedError as AiokafkaRefusal
from confluent_kafka import KafkaError, Message, admin

from mockbroker import ConflictError, MockCluster, Security
from mockbroker.rig.real_tools import Tools

from .. import needs
from ..clients.console import VERSION
from ..clients.kafka_python import KafkaProducer, errors
from ..driving.real_clients import LIMIT_S, a_consumer, a_producer

ADMINS: Any = admin
USERS = {"alice": "secret", "admin": "root"}
MAY_WRITE = "alice allow write on topic:orders"
MAY_READ = "alice allow read on topic:orders"
MAY_JOIN = "alice allow read on group:g"


def a_cluster(*acls: str, **more: Any) -> MockCluster:
    security = Security(sasl="scram-sha-256", users=USERS, super_users=["admin"], acls=acls)
    return MockCluster(security=security, topics={"orders": 1, "other": 1}, **more)


def confluent_kafka(settings: dict[str, Any], topic: str) -> bool:
    class Listening:
        bootstrap_servers = settings["bootstrap.servers"]

    told: list[KafkaError | None] = []
    producer = a_producer(Listening, **settings)
    producer.produce(topic, b"x", on_delivery=lambda error, _: told.append(error))
    assert producer.flush(LIMIT_S) == 0
    (error,) = told
    if error is not None:
        assert error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED
    return error is None


def kafka_python(settings: dict[str, Any], topic: str) -> bool:
    producer = KafkaProducer(**settings)
    try:
        producer.send(topic, b"x").get(LIMIT_S)
    except errors.TopicAuthorizationFailedError:
        return False
    finally:
        producer.close()
    return True


async def _aiokafka(settings: dict[str, Any], topic: str) -> bool:
    async with asyncio.timeout(LIMIT_S), AIOKafkaProducer(**settings) as producer:
        try:
            await producer.send_and_wait(topic, b"x")
        except AiokafkaRefusal:
            return False
    return True


def aiokafka(settings: dict[str, Any], topic: str) -> bool:
    return asyncio.run(_aiokafka(settings, topic))


WRITERS: dict[str, Callable[[dict[str, Any], str], bool]] = {
    "confluent-kafka": confluent_kafka,
    "kafka-python": kafka_python,
    "aiokafka": aiokafka,
}


@pytest.mark.parametrize("client", WRITERS)
def test_a_producer_writes_only_where_it_may(client: Any) -> None:
    with a_cluster(MAY_WRITE) as cluster:
        settings = cluster.client_settings(client, user="alice")
        assert WRITERS[client](settings, "orders")
        assert not WRITERS[client](settings, "other")
        (hint,) = cluster.hints()
        assert hint.endswith("was refused: User:alice lacks DESCRIBE on the topic other")
        cluster.add_acl("alice allow write on topic:oth*")
        assert WRITERS[client](settings, "other")
        assert cluster.hints() == []


def test_a_consumer_reads_for_as_long_as_it_may() -> None:
    with a_cluster() as cluster:
        settings = cluster.client_settings("confluent-kafka", user="alice")
        cluster.produce("orders", b"1")
        cluster.produce("orders", b"2")
        consumer = a_consumer(cluster, "g", **settings, **{"topic.metadata.refresh.interval.ms": 200})
        consumer.subscribe(["orders"])
        assert told(consumer) == KafkaError.GROUP_AUTHORIZATION_FAILED
        cluster.add_acl(MAY_JOIN)
        cluster.add_acl(MAY_READ)
        assert read(consumer, 2) == [b"1", b"2"]
        cluster.remove_acl(MAY_READ)
        cluster.produce("orders", b"3")
        assert told(consumer) == KafkaError.TOPIC_AUTHORIZATION_FAILED
        assert any("lacks READ on the topic orders" in each for each in cluster.hints())
        cluster.add_acl(MAY_READ)
        assert read(consumer, 1) == [b"3"]
        consumer.close()


def read(consumer: Any, count: int) -> list[bytes | None]:
    """The next values. Errors may still come of what was refused before."""
    found: list[bytes | None] = []
    refused = (KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.GROUP_AUTHORIZATION_FAILED)
    for _ in range(LIMIT_S):
        message: Message | None = consumer.poll(1)
        if message is None:
            continue
        if (error := message.error()) is None:
            found.append(message.value())
        else:
            assert error.code() in refused, error
        if len(found) == count:
            return found
    raise TimeoutError(f"{len(found)} of {count} records came")


def told(consumer: Any) -> int | None:
    """The code of the next error."""
    for _ in range(LIMIT_S):
        message: Message | None = consumer.poll(1)
        if message is not None and (error := message.error()) is not None:
            return error.code()
    raise TimeoutError("no error came")


def test_an_admin_gives_and_takes_acls() -> None:
    with a_cluster() as cluster:
        client = ADMINS.AdminClient(cluster.client_settings("confluent-kafka", user="admin"))
        binding = ADMINS.AclBinding(
            ADMINS.ResourceType.TOPIC,
            "orders",
            ADMINS.ResourcePatternType.LITERAL,
            "User:alice",
            "*",
            ADMINS.AclOperation.WRITE,
            ADMINS.AclPermissionType.ALLOW,
        )
        settings = cluster.client_settings("confluent-kafka", user="alice")
        assert not confluent_kafka(settings, "orders")
        for future in client.create_acls([binding]).values():
            future.result(LIMIT_S)
        assert confluent_kafka(settings, "orders")
        assert cluster.acls() == ["User:alice allow WRITE on topic:orders"]
        everything = ADMINS.AclBindingFilter(
            ADMINS.ResourceType.ANY,
            None,
            ADMINS.ResourcePatternType.ANY,
            None,
            None,
            ADMINS.AclOperation.ANY,
            ADMINS.AclPermissionType.ANY,
        )
        assert client.describe_acls(everything).result(LIMIT_S) == [binding]
        for future in client.delete_acls([everything]).values():
            assert future.result(LIMIT_S) == [binding]
        assert cluster.acls() == []
        assert not confluent_kafka(settings, "orders")


def test_a_fault_takes_an_acl_in_the_midst() -> None:
    """Before the second Produce."""
    fault = {"do": "remove-acl", "acl": MAY_WRITE, "api": "Produce", "nth": 2}
    with a_cluster(MAY_WRITE, faults=[fault]) as cluster:
        settings = cluster.client_settings("confluent-kafka", user="alice")
        assert confluent_kafka(settings, "orders")
        assert not confluent_kafka(settings, "orders")
        assert len(cluster.records("orders")) == 1


def test_without_an_authorizer_acls_are_refused() -> None:
    with (
        MockCluster(brokers=1) as cluster,
        pytest.raises(ConflictError, match="start the cluster with acls or super_users"),
    ):
        cluster.add_acl(MAY_READ)


@pytest.mark.needs(*needs.JAVA)
def test_kafka_acls_lists_what_it_added(tmp_path: Any) -> None:
    with a_cluster() as cluster:
        settings = cluster.client_settings("java", user="admin")
        (tmp_path / "admin.properties").write_text(
            "".join(f"{name}={each}\n" for name, each in settings.items())
        )
        tools = Tools(VERSION)

        def run(*arguments: str) -> str:
            main = "org.apache.kafka.tools.AclCommand"
            given = ("--bootstrap-server", cluster.bootstrap_servers, "--command-config", "admin.properties")
            out, errors = tools.run(main, *given, *arguments, folder=tmp_path)
            assert out, errors
            return out

        alice = ("--allow-principal", "User:alice", "--consumer")
        assert "Adding ACLs" in run("--add", *alice, "--topic", "orders", "--group", "g")
        listed = run("--list", "--topic", "orders")
        assert "principal=User:alice, host=*, operation=READ, permissionType=ALLOW" in listed
        # Java adds a set, in an order of its own.
        assert sorted(cluster.acls()) == [
            "User:alice allow DESCRIBE on topic:orders",
            "User:alice allow READ on group:g",
            "User:alice allow READ on topic:orders",
        ]
