"""Brokers that do not prove by SCRAM that they know the password: clients notice."""

import asyncio
from typing import Any, Final

import pytest
from aiokafka import AIOKafkaProducer

from mockbroker import FaultError, MockCluster, Security
from mockbroker.rig.client import Client, DisconnectedError

from ..clients.kafka_python import KafkaProducer
from ..driving.real_clients import LIMIT_S, a_producer
from ..driving.scram import ScramClient

SCRAM: Final = Security(sasl="scram-sha-256", users={"alice": "secret"})
NOTICED: Final = {
    "wrong-signature": ("ServerSignature mismatch", "Server sent wrong signature!"),
    "wrong-nonce": ("Server/client nonce mismatch", "Server nonce, did not start with client nonce!"),
}
"""What confluent-kafka and aiokafka say."""


@pytest.mark.parametrize("do", NOTICED)
def test_confluent_kafka_notices_and_logs_in_again(do: Any) -> None:
    with MockCluster(security=SCRAM, brokers=1, topics={"t": 1}, trace=True) as cluster:
        cluster.faults.add(do, client_id="me", times=1)
        told: list[str] = []
        settings = {**cluster.client_settings("confluent-kafka"), "client.id": "me"}
        producer = a_producer(cluster, error_cb=lambda each: told.append(each.str()), **settings)
        producer.produce("t", b"order 1")
        assert producer.flush(LIMIT_S) == 0
        assert any(NOTICED[do][0] in each for each in told), told
        spoilt = [event for event in cluster.trace.events("answer") if event.row()["faults"]]
        assert {event.row()["api"] for event in spoilt} == {"SaslAuthenticate"}


@pytest.mark.parametrize("do", NOTICED)
def test_aiokafka_notices_and_gives_up(do: Any) -> None:
    async def send(settings: Any) -> None:
        producer = AIOKafkaProducer(**settings)
        try:
            await asyncio.wait_for(producer.start(), LIMIT_S)
        finally:
            await producer.stop()

    with MockCluster(security=SCRAM, brokers=1, topics={"t": 1}) as cluster:
        cluster.faults.add(do)
        with pytest.raises(ValueError, match=NOTICED[do][1]):
            asyncio.run(send(cluster.client_settings("aiokafka")))
        assert not cluster.records("t")


@pytest.mark.parametrize("do", NOTICED)
def test_kafka_python_notices_and_logs_in_again(do: Any, caplog: pytest.LogCaptureFixture) -> None:
    with MockCluster(security=SCRAM, brokers=1, topics={"t": 1}) as cluster:
        fault = cluster.faults.add(do, times=1)
        producer = KafkaProducer(**cluster.client_settings("kafka-python"))
        producer.send("t", b"order 1").get(LIMIT_S)
        producer.close()
        assert fault.hits == 1
        assert NOTICED[do][1] in caplog.text


def test_a_broker_refuses_a_client_that_goes_on_with_a_wrong_nonce() -> None:
    with MockCluster(security=SCRAM, brokers=1, faults=[{"do": "wrong-nonce"}], trace=True) as cluster:
        host, port = cluster.bootstrap_servers.split(":")
        scram = ScramClient("alice", "secret")
        with Client(host, int(port), timeout=LIMIT_S) as client:
            client.call("sasl_handshake", 1, {"mechanism": "SCRAM-SHA-256"})
            first = client.call("sasl_authenticate", 2, {"auth_bytes": scram.first()})["auth_bytes"]
            assert not first.startswith(f"r={scram.nonce}".encode())
            answer = client.call("sasl_authenticate", 2, {"auth_bytes": scram.final(first)})
            assert answer["error_code"] == "SASL_AUTHENTICATION_FAILED"
            with pytest.raises(DisconnectedError):
                client.read_frame()
        assert cluster.trace.events("login")[-1].row()["failure"]


@pytest.mark.parametrize("do", NOTICED)
def test_other_logins_leave_it_nothing_to_do(do: Any) -> None:
    with MockCluster(security=Security(sasl="plain", users={"alice": "secret"}), brokers=1) as cluster:
        fault = cluster.faults.add(do, optional=True)
        settings = cluster.client_settings("confluent-kafka")
        a_producer(cluster, **settings).list_topics(timeout=LIMIT_S)
        assert fault.hits == 0
        assert "message of SCRAM" in fault.why
        assert "RFC 5802" in fault.illegal


@pytest.mark.parametrize("do", NOTICED)
def test_it_is_for_logins_only(do: Any) -> None:
    with MockCluster() as cluster, pytest.raises(FaultError, match="api='SaslAuthenticate'"):
        cluster.faults.add(do, api="Produce")


def test_a_session_can_be_told_longer_than_it_is() -> None:
    """The client logs in again too late."""
    config = {"connections.max.reauth.ms": "2000"}
    with MockCluster(security=SCRAM, brokers=1, config=config) as cluster:
        cluster.faults.add("replace", api="SaslAuthenticate", field="session_lifetime_ms", value=60_000)
        host, port = cluster.bootstrap_servers.split(":")
        scram = ScramClient("alice", "secret")
        with Client(host, int(port), timeout=LIMIT_S) as client:
            client.call("sasl_handshake", 1, {"mechanism": "SCRAM-SHA-256"})
            first = client.call("sasl_authenticate", 2, {"auth_bytes": scram.first()})["auth_bytes"]
            last = client.call("sasl_authenticate", 2, {"auth_bytes": scram.final(first)})
            assert last["session_lifetime"] == 60_000
            assert client.call("metadata", 8, {"topics": []})["brokers"]
            cluster.clock.advance(2_001)
            with pytest.raises(DisconnectedError):
                client.call("metadata", 8, {"topics": []})
