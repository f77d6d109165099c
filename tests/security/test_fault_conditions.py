"""Faults for one user, one mechanism, one listener: others' requests are left alone."""

from __future__ import annotations

from typing import Any, Final

import pytest
from confluent_kafka import KafkaError

from mockbroker import FaultError, MockCluster, Security

from ..driving.real_clients import LIMIT_S, a_producer

MECHANISMS: Final = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"]
SECURITY: Final = Security(
    sasl=MECHANISMS,
    users={"alice": "secret", "bob": "hunter2"},
    listeners={"INSIDE": "PLAINTEXT", "OUTSIDE": "SASL_PLAINTEXT"},
)
CONFIG: Final = {"connection.failed.authentication.delay.ms": "0"}
REFUSED: Final[Any] = {"api": "SaslAuthenticate", "error": "SASL_AUTHENTICATION_FAILED"}


def a_cluster() -> MockCluster:
    return MockCluster(security=SECURITY, brokers=1, topics={"t": 1}, config=CONFIG)


def writes(cluster: MockCluster, user: str, mechanism: str, **more: Any) -> bool:
    """Whether a user can write a record; False if it can't log in."""
    told: list[KafkaError] = []
    settings = cluster.client_settings("confluent-kafka", user=user, mechanism=mechanism, listener="OUTSIDE")
    producer = a_producer(cluster, **{**settings, "error_cb": told.append, **more})
    producer.produce("t", user.encode())
    for _ in range(10 * LIMIT_S):
        if not producer.flush(0.1):
            return True
        if told:
            assert {each.code() for each in told} <= {
                KafkaError._AUTHENTICATION,
                KafkaError._ALL_BROKERS_DOWN,
            }
            producer.purge()
            producer.flush(LIMIT_S)
            return False
    pytest.fail(f"{user} was told nothing")


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("when", ["instead", "after"])
def test_the_login_of_one_user(mechanism: str, when: Any) -> None:
    with a_cluster() as cluster:
        fault = cluster.faults.add("error", when=when, user="alice", **REFUSED)
        assert writes(cluster, "bob", mechanism)
        assert fault.hits == 0
        assert fault.why.endswith("none of the user 'alice' (they were of 'bob')")
        assert not writes(cluster, "alice", mechanism)
        fault.remove()
        assert writes(cluster, "alice", mechanism)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_requests_of_one_user(mechanism: str) -> None:
    with a_cluster() as cluster:
        fault = cluster.faults.add("delay", api="Produce", user="alice", mechanism="*", ms=0)
        assert writes(cluster, "bob", mechanism)
        assert fault.hits == 0
        assert writes(cluster, "alice", mechanism)
        assert fault.hits == 1


def test_one_mechanism_from_its_handshake_on() -> None:
    with a_cluster() as cluster:
        fault = cluster.faults.add("delay", api="SaslHandshake", mechanism="SCRAM-*", ms=0)
        assert writes(cluster, "alice", "PLAIN")
        assert fault.why.endswith("none with the mechanism 'SCRAM-*' (they were with 'PLAIN')")
        assert writes(cluster, "alice", "SCRAM-SHA-512")
        assert fault.hits


def test_one_listener_where_nobody_logs_in() -> None:
    with a_cluster() as cluster:
        fault = cluster.faults.add("delay", api="Produce", listener="IN*", ms=0)
        named = cluster.faults.add("delay", api="Produce", mechanism="PLAIN", listener="INSIDE", ms=0)
        nobody = cluster.faults.add("delay", api="Produce", user="ANONYMOUS", ms=0)
        assert writes(cluster, "alice", "PLAIN")
        assert fault.why == "1 Produce request came, none at the listener 'IN*' (they were at 'OUTSIDE')"
        producer = a_producer(cluster)
        producer.produce("t", b"nobody's")
        assert producer.flush(LIMIT_S) == 0
        assert (fault.hits, nobody.hits, named.hits) == (1, 1, 0)
        assert "1 not with the mechanism 'PLAIN' (they named none)" in named.why


def test_a_function_of_ones_own_for_some_users() -> None:
    with a_cluster() as cluster:
        cluster.on(
            "Produce", lambda request: request.error("TOPIC_AUTHORIZATION_FAILED"), user="al*", times=1
        )
        assert writes(cluster, "bob", "SCRAM-SHA-256")
        assert len(cluster.records("t")) == 1
        assert writes(cluster, "alice", "SCRAM-SHA-256")
        assert len(cluster.records("t")) == 1


def test_a_listener_that_is_not_there() -> None:
    with a_cluster() as cluster, pytest.raises(FaultError, match="'OUTSIDER': did you mean 'OUTSIDE'"):
        cluster.faults.add("delay", ms=1, listener="OUTSIDER")
