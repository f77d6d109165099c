"""What a user of mockbroker sees of logins: hints, faults, listeners of brokers that come back."""

from typing import Literal

import pytest
from confluent_kafka import KafkaException

from mockbroker import MockCluster, Security
from mockbroker.names import ErrorName
from mockbroker.rig.client import Client, DisconnectedError

from ..driving.real_clients import LIMIT_S, a_consumer, a_producer

PLAIN = Security(sasl="plain", users={"alice": "secret"})


def test_a_hint_says_who_did_not_get_in_until_it_does() -> None:
    with MockCluster(security=PLAIN, brokers=1) as cluster:
        settings = {**cluster.client_settings("confluent-kafka"), "client.id": "me"}
        consumer = a_consumer(cluster, "g", **{**settings, "sasl.password": "wrong"})
        with pytest.raises(KafkaException):
            consumer.list_topics(timeout=1)
        consumer.close()
        why = "Authentication failed: Invalid username or password"
        assert f"the client 'me' did not get in at the listener SASL_PLAINTEXT: {why}" in cluster.hints()
        a_producer(cluster, **settings).list_topics(timeout=LIMIT_S)
        assert not [each for each in cluster.hints() if "did not get in" in each]


def test_a_login_that_a_fault_refuses_is_none() -> None:
    with MockCluster(security=PLAIN, brokers=1, topics={"t": 1}, trace=True) as cluster:
        cluster.faults.add("error", api="SaslAuthenticate", error="SASL_AUTHENTICATION_FAILED", times=1)
        told: list[str] = []
        settings = cluster.client_settings("confluent-kafka")
        producer = a_producer(cluster, error_cb=lambda each: told.append(each.str()), **settings)
        producer.produce("t", b"order 1")
        assert producer.flush(LIMIT_S) == 0
        assert any("SASL authentication error" in each for each in told)
        assert [bool(each.row()["failure"]) for each in cluster.trace.events("login")][:2] == [True, False]


@pytest.mark.parametrize("when", ["instead", "after"])
def test_a_refused_login_ends_its_connection(when: Literal["instead", "after"]) -> None:
    with MockCluster(security=PLAIN, brokers=1, trace=True) as cluster:
        cluster.faults.add(
            "error", api="SaslAuthenticate", error="SASL_AUTHENTICATION_FAILED", when=when, times=1
        )
        host, port = cluster.bootstrap_servers.split(":")
        with Client(host, int(port), timeout=LIMIT_S) as client:
            client.call("sasl_handshake", 1, {"mechanism": "PLAIN"})
            answer = client.call("sasl_authenticate", 2, {"auth_bytes": b"\0alice\0secret"})
            assert answer["error_code"] == "SASL_AUTHENTICATION_FAILED"
            assert answer["auth_bytes"] == b"", "the password comes back"
            with pytest.raises(DisconnectedError):
                client.read_frame()
        login = cluster.trace.events("login")[-1]
        assert login.row()["failure"] == "the broker answered SASL_AUTHENTICATION_FAILED"


def test_a_broker_can_lack_the_mechanism() -> None:
    with MockCluster(security=PLAIN, brokers=1, trace=True) as cluster:
        error: ErrorName = "UNSUPPORTED_SASL_MECHANISM"
        cluster.faults.add("error", api="SaslHandshake", error=error, when="after", times=1)
        cluster.faults.add("replace", api="SaslHandshake", field="mechanisms", value=["GSSAPI"], times=1)
        host, port = cluster.bootstrap_servers.split(":")
        with Client(host, int(port), timeout=LIMIT_S) as client:
            answer = client.call("sasl_handshake", 1, {"mechanism": "PLAIN"})
            assert answer == {"error_code": error, "mechanisms": ["GSSAPI"]}
            with pytest.raises(DisconnectedError):
                client.read_frame()
        assert cluster.trace.events("login")[-1].row()["failure"] == f"the broker answered {error}"


def test_a_fault_refuses_a_re_authentication() -> None:
    config = {"connections.max.reauth.ms": "60000"}
    with MockCluster(security=PLAIN, brokers=1, config=config, trace=True) as cluster:
        cluster.faults.add("error", api="SaslAuthenticate", error="SASL_AUTHENTICATION_FAILED", nth=2)
        host, port = cluster.bootstrap_servers.split(":")
        with Client(host, int(port), timeout=LIMIT_S) as client:
            for error in ("NONE", "SASL_AUTHENTICATION_FAILED"):
                client.call("sasl_handshake", 1, {"mechanism": "PLAIN"})
                answer = client.call("sasl_authenticate", 2, {"auth_bytes": b"\0alice\0secret"})
                assert answer["error_code"] == error
            with pytest.raises(DisconnectedError):
                client.read_frame()
        assert [bool(each.row()["failure"]) for each in cluster.trace.events("login")] == [False, True]


def test_all_listeners_of_a_broker_come_back_with_it() -> None:
    security = Security(listeners={"A": "PLAINTEXT", "B": "PLAINTEXT"})
    with MockCluster(security=security, brokers=2) as cluster:
        servers = [
            cluster.client_settings("java", listener=each)["bootstrap.servers"].split(",")[0] for each in "AB"
        ]
        cluster.stop_broker(1)
        for each in servers:
            host, port = each.split(":")
            with pytest.raises(ConnectionRefusedError), Client(host, int(port)) as client:
                client.api_versions()
        cluster.start_broker(1)
        for each in servers:
            host, port = each.split(":")
            with Client(host, int(port)) as client:
                assert client.api_versions()


def test_a_login_that_never_ends_is_ended() -> None:
    config = {"mockbroker.max.handshake.ms": "500"}
    with MockCluster(security=PLAIN, brokers=1, config=config) as cluster:
        host, port = cluster.bootstrap_servers.split(":")
        with Client(host, int(port), timeout=LIMIT_S) as begun:
            assert begun.call("sasl_handshake", 1, {"mechanism": "PLAIN"})["error_code"] == "NONE"
            with pytest.raises(DisconnectedError):
                begun.read_frame()
        with Client(host, int(port), timeout=LIMIT_S) as late:
            late.call("sasl_handshake", 1, {"mechanism": "PLAIN"})
            late.call("sasl_authenticate", 2, {"auth_bytes": b"\0alice\0secret"})
            with Client(host, int(port), timeout=LIMIT_S) as other:
                other.call("sasl_handshake", 1, {"mechanism": "PLAIN"})
                with pytest.raises(DisconnectedError):
                    other.read_frame()
            assert late.call("metadata", 1, {"topics": []})["brokers"], "who has logged in stays"
