"""A real cluster behind the proxy."""

import uuid

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from mockbroker import Fault, MockProxy, Security
from mockbroker.addresses import joined
from mockbroker.rig import sasl_listener
from mockbroker.rig.real_broker import RealCluster

from .. import needs

RELEASE = "4.4.0"
RECORDS = 10
SECURITY = Security(tls=True)


@pytest.mark.long
@pytest.mark.needs(*needs.JAVA)
def test_groups_and_transactions_of_a_real_cluster_survive_faults() -> None:
    faults: list[Fault] = [
        {"do": "disconnect", "api": "Produce", "when": "after", "times": 1},
        {"do": "error", "error": "NOT_LEADER_OR_FOLLOWER", "api": "Produce", "nth": 3, "topic": "orders"},
        {"do": "error", "error": "COORDINATOR_NOT_AVAILABLE", "api": "FindCoordinator", "times": 1},
        {"do": "delay", "ms": 100, "api": "EndTxn"},
    ]
    with (
        RealCluster(RELEASE, brokers=3) as cluster,
        MockProxy(cluster.bootstrap_servers, faults=faults) as proxy,
    ):
        servers = proxy.bootstrap_servers
        admin = AdminClient({"bootstrap.servers": servers})
        admin.create_topics([NewTopic("orders", 6, 3)])["orders"].result(60)
        brokers = admin.list_topics(timeout=60).brokers
        assert {f"{each.host}:{each.port}" for each in brokers.values()} == set(servers.split(","))
        _transfer(servers)
        assert [each.hits for each in proxy.faults] == [1, 1, 1, 2], [each.why for each in proxy.faults]
        assert not proxy.lines


@pytest.mark.long
@pytest.mark.needs(*needs.JAVA)
def test_tls_and_logins_reach_a_real_broker() -> None:
    """Sessions by PLAIN last 3 s there: clients log in again on the same connection (KIP-368)."""
    listeners = {"TLS": "SSL", "BOTH": "SASL_SSL"}
    alice = {"mechanism": "PLAIN", "user": "alice", "password": sasl_listener.USERS["alice"]}
    with RealCluster(RELEASE, sasl=True, listeners=listeners) as cluster:
        ca = cluster.certificates.pem("ca")
        for listener, given in {"TLS": {}, "BOTH": alice, sasl_listener.NAME: alice}.items():
            tls = ca if listener in listeners else None
            with MockProxy(joined(*cluster.address(listener)), upstream_ca=tls, security=SECURITY) as proxy:
                lost = proxy.add_fault("disconnect", api="Produce", when="after", times=1)
                settings = proxy.client_settings("confluent-kafka", **given)
                producer = Producer({**settings, "enable.idempotence": True, "log_level": 0})
                for index in range(RECORDS):
                    producer.produce("orders", f"{listener} {index}")
                    assert producer.flush(60) == 0
                again = proxy.add_fault("watch", api="SaslAuthenticate", optional=True)
                while given and not again.hits:
                    producer.poll(1)
                assert (lost.hits, proxy.lines) == (1, [])


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
