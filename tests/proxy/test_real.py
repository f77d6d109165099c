"""A real cluster behind the proxy."""

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from mockbroker import Behaviours, Fault, MockProxy, Security
from mockbroker.addresses import joined
from mockbroker.rig import sasl_listener
from mockbroker.rig.client import Client
from mockbroker.rig.real_broker import RealCluster
from mockbroker.rig.waiting import wait_for

from .. import needs
from ..driving.clients import raw_client

RELEASE = "4.4.0"
RECORDS = 10
LIMIT_S = 60
SECURITY = Security(tls=True)
LISTENERS = {"TLS": "SSL", "BOTH": "SASL_SSL"}
_AGAIN = (
    "NOT_COORDINATOR",
    "COORDINATOR_NOT_AVAILABLE",
    "COORDINATOR_LOAD_IN_PROGRESS",
    "CONCURRENT_TRANSACTIONS",
)


@pytest.fixture(scope="module")
@needs.brings(*needs.JAVA)
def cluster() -> Iterator[RealCluster]:
    """Three brokers, for all tests: each uses a topic of its own."""
    with RealCluster(RELEASE, brokers=3, sasl=True, listeners=LISTENERS) as cluster:
        yield cluster


@pytest.mark.long
def test_groups_and_transactions_of_a_real_cluster_survive_faults(cluster: RealCluster) -> None:
    faults: list[Fault] = [
        {"do": "disconnect", "api": "Produce", "when": "after", "times": 1},
        {"do": "error", "error": "NOT_LEADER_OR_FOLLOWER", "api": "Produce", "nth": 3, "topic": "orders"},
        {"do": "error", "error": "COORDINATOR_NOT_AVAILABLE", "api": "FindCoordinator", "times": 1},
        {"do": "delay", "ms": 100, "api": "EndTxn"},
    ]
    with MockProxy(cluster.bootstrap_servers, faults=faults) as proxy:
        servers = proxy.bootstrap_servers
        admin = AdminClient({"bootstrap.servers": servers})
        admin.create_topics([NewTopic("orders", 6, 3)])["orders"].result(60)
        brokers = admin.list_topics(timeout=60).brokers
        assert {f"{each.host}:{each.port}" for each in brokers.values()} == set(servers.split(","))
        _transfer(servers)
        assert [each.hits for each in proxy.faults] == [1, 1, 1, 2], [each.why for each in proxy.faults]
        assert not proxy.lines


@pytest.mark.long
def test_tls_and_logins_reach_a_real_broker(cluster: RealCluster) -> None:
    """Sessions by PLAIN last 3 s there: clients log in again on the same connection (KIP-368)."""
    alice = {"mechanism": "PLAIN", "user": "alice", "password": sasl_listener.USERS["alice"]}
    ca = cluster.certificates.pem("ca")
    for listener, given in {"TLS": {}, "BOTH": alice, sasl_listener.NAME: alice}.items():
        tls = ca if listener in LISTENERS else None
        with MockProxy(joined(*cluster.address(listener)), upstream_ca=tls, security=SECURITY) as proxy:
            lost = proxy.add_fault("disconnect", api="Produce", when="after", times=1)
            settings = proxy.client_settings("confluent-kafka", **given)
            producer = Producer({**settings, "enable.idempotence": True, "log_level": 0})
            for index in range(RECORDS):
                producer.produce("logins", f"{listener} {index}")
                assert producer.flush(60) == 0
            again = proxy.add_fault("watch", api="SaslAuthenticate", optional=True)
            while given and not again.hits:
                producer.poll(1)
            assert (lost.hits, proxy.lines) == (1, [])


@pytest.mark.long
def test_epochs_of_a_real_cluster_are_bumped_as_they_were(cluster: RealCluster) -> None:
    assert _bumps(cluster, {}) == (2, "PRODUCER_FENCED", -1)
    assert _bumps(cluster, {"epoch-bump": "on-request"}) == (1, "PRODUCER_FENCED", -1)
    assert _bumps(cluster, {"epoch-bump": "by-new-instance"}) == (1, "NONE", 2)


def _bumps(cluster: RealCluster, policies: Behaviours) -> tuple[int, str, int]:
    """The level of `transaction.version` that clients are told, and what a producer gets that asks for
    another epoch after it was replaced: an error, and the epoch."""
    id_ = str(uuid.uuid4())
    with MockProxy(cluster.bootstrap_servers, policies=policies) as proxy, raw_client(proxy) as client:
        software = {"client_software_name": "c", "client_software_version": "1"}
        features = client.call("api_versions", 3, software)["finalized_features"]
        (level,) = (each["max_version_level"] for each in features if each["name"] == "transaction.version")
        asked = {"transactional_id": id_, "transaction_timeout": 60_000}
        with Client(*_coordinator(client, id_)) as coordinator:
            first = _initialized(coordinator, {**asked, "producer_id": -1, "producer_epoch": -1})
            _initialized(coordinator, {**asked, "producer_id": -1, "producer_epoch": -1})
            mine = {"producer_id": first["producer_id"], "producer_epoch": first["producer_epoch"]}
            found = _initialized(coordinator, {**asked, **mine})
        assert not proxy.lines
        return level, found["error_code"], found["producer_epoch"]


def _coordinator(client: Client, id_: str) -> tuple[str, int]:
    """Its address, once there is one."""
    found: dict[str, Any] = {}

    def is_found() -> bool:
        told = client.call("find_coordinator", 4, {"key_type": 1, "coordinator_keys": [id_]})
        found.update(told["coordinators"][0])
        error: str = found["error_code"]
        return error == "NONE"

    wait_for("a coordinator", is_found, LIMIT_S)
    return found["host"], found["port"]


def _initialized(client: Client, asked: dict[str, Any]) -> dict[str, Any]:
    """Once the coordinator has done with what came before."""
    found: dict[str, Any] = {}

    def is_answered() -> bool:
        found.update(client.call("init_producer_id", 4, asked))
        return found["error_code"] not in _AGAIN

    wait_for("an InitProducerId", is_answered, LIMIT_S)
    return found


def _transfer(servers: str) -> None:
    """Two transactions, of which the first is aborted, and a group that reads what is committed."""
    group = str(uuid.uuid4())
    producer = Producer({"bootstrap.servers": servers, "transactional.id": "transfers"})
    producer.init_transactions(60)
    for commits in (False, True):
        producer.begin_transaction()
        for index in range(RECORDS):
            producer.produce("orders", f"{commits} {index}")
            producer.flush(60)
        producer.commit_transaction(60) if commits else producer.abort_transaction(60)
    consumer = Consumer({"bootstrap.servers": servers, "group.id": group, "auto.offset.reset": "earliest"})
    consumer.subscribe(["orders"])
    found: set[str] = set()
    while len(found) < RECORDS:
        message = consumer.poll(60)
        assert message is not None
        assert message.error() is None
        found.add((message.value() or b"").decode())
    assert found == {f"True {index}" for index in range(RECORDS)}
    consumer.commit(asynchronous=False)
    committed = consumer.committed([TopicPartition("orders", index) for index in range(6)], timeout=60)
    assert any(each.offset > 0 for each in committed)
    consumer.close()
