"""Passwords that change, and users who are removed, while their clients are at work."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import KafkaError, Producer

from mockbroker import ConflictError, MockCluster, OptionError, Security

from ..driving.real_clients import LIMIT_S, a_producer

MECHANISMS = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]
SECURITY = Security(sasl=MECHANISMS, users={"alice": "secret"})
SOON = {"connection.failed.authentication.delay.ms": "0"}


def a_user(cluster: MockCluster, mechanism: str, told: list[Any], **settings: Any) -> Producer:
    given = cluster.client_settings("confluent-kafka", mechanism=mechanism)
    return a_producer(cluster, **{**given, "error_cb": told.append, **settings})


def written(producer: Producer) -> bool:
    producer.produce("t", b"1")
    return producer.flush(LIMIT_S) == 0


def refused(producer: Producer, told: list[KafkaError]) -> bool:
    while KafkaError._AUTHENTICATION not in {each.code() for each in told}:
        assert producer.poll(LIMIT_S), told
    return True


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_new_password(mechanism: str) -> None:
    with MockCluster(security=SECURITY, brokers=1, topics={"t": 1}, config=SOON) as cluster:
        told: list[KafkaError] = []
        before = a_user(cluster, mechanism, told)
        old = cluster.client_settings("confluent-kafka", mechanism=mechanism)
        assert written(before)
        cluster.set_password("alice", "changed")
        assert written(before)
        assert written(a_user(cluster, mechanism, told))
        assert told == []
        assert refused(a_user(cluster, mechanism, told, **old), told)
        cluster.set_password("bob", "new")
        assert cluster.users() == [{"user": each, "mechanisms": MECHANISMS} for each in ("alice", "bob")]
        settings = cluster.client_settings("confluent-kafka", user="bob", mechanism=mechanism)
        assert written(a_producer(cluster, **settings))


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_user_who_is_removed_works_until_the_session_ends(mechanism: str) -> None:
    config = {**SOON, "connections.max.reauth.ms": "3600000"}
    with MockCluster(security=SECURITY, brokers=1, topics={"t": 1}, config=config, clock="manual") as cluster:
        told: list[KafkaError] = []
        producer = a_user(cluster, mechanism, told, **{"message.timeout.ms": 2_000})
        assert written(producer)
        cluster.remove_user("alice")
        assert cluster.users() == []
        assert written(producer)
        assert told == []
        cluster.clock.advance("2h")
        failed: list[Any] = []
        producer.produce("t", b"2", on_delivery=lambda error, _: failed.append(error))
        producer.flush(LIMIT_S)
        assert failed[0] is not None
        assert KafkaError._AUTHENTICATION in {each.code() for each in told}


def test_a_fault_changes_the_password_of_the_user_who_asks() -> None:
    with MockCluster(security=SECURITY, brokers=1, topics={"t": 1}, config=SOON) as cluster:
        fault = cluster.faults.add("set-password", password="changed", api="Produce")
        told: list[KafkaError] = []
        old = cluster.client_settings("confluent-kafka", mechanism="PLAIN")
        assert written(a_user(cluster, "PLAIN", told))
        assert fault.hits == 1
        assert refused(a_user(cluster, "PLAIN", told, **old), told)


def test_what_would_change_nothing() -> None:
    with MockCluster(security=SECURITY, brokers=1) as cluster:
        with pytest.raises(ConflictError, match="that is the password of alice already"):
            cluster.set_password("alice", "secret")
        with pytest.raises(ConflictError, match="no user 'alcie': did you mean 'alice'"):
            cluster.remove_user("alcie")
        with pytest.raises(OptionError, match="password is no text, or an empty one"):
            cluster.set_password("alice", "")
    with MockCluster(brokers=1) as cluster:
        with pytest.raises(ConflictError, match="start the cluster with sasl and users"):
            cluster.set_password("alice", "secret")
        with pytest.raises(ConflictError, match="there are no users"):
            cluster.remove_user("alice")
