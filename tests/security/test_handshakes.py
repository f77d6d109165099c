"""TLS handshakes go wrong, and clients go on once they don't."""

from __future__ import annotations

import asyncio
import ssl
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaConnectionError
from confluent_kafka import KafkaError

from mockbroker import ConflictError, MockCluster, NotThereError, OptionError, Security

from ..driving.real_clients import LIMIT_S, a_producer
from .test_tls import asked, ca_of, shaken

TLS = Security(tls=True)
SEEN = {"cut": "EOF occurred", "plain-text": "WRONG_VERSION_NUMBER|wrong version number"}
TOLD = {"cut": "SSL handshake failed: Disconnected", "plain-text": "wrong version number"}


@pytest.mark.parametrize("how", SEEN)
def test_once(how: Any) -> None:
    with MockCluster(brokers=1, security=TLS) as cluster:
        ca = ca_of(cluster)
        with shaken(cluster, ca) as before:
            cluster.break_handshakes(how, times=1)
            assert cluster.handshakes() == {"how": how, "broker": None, "left": 1, "hits": 0}
            with pytest.raises((ssl.SSLError, ConnectionError), match=SEEN[how]):
                shaken(cluster, ca)
            assert asked(before) > 0
        assert cluster.handshakes() == {"how": None, "broker": None, "left": None, "hits": 1}
        assert "TLS handshake was" in str(cluster.hints())
        with shaken(cluster, ca) as after:
            assert asked(after) > 0


def test_one_that_stalls_is_closed_in_the_end() -> None:
    config = {"mockbroker.max.handshake.ms": "200"}
    with MockCluster(brokers=1, security=TLS, config=config) as cluster:
        cluster.break_handshakes("stall")
        with pytest.raises((ssl.SSLError, ConnectionError), match="EOF occurred"):
            shaken(cluster, ca_of(cluster))
        assert cluster.handshakes()["hits"] == 1


@pytest.mark.parametrize("how", TOLD)
def test_confluent_kafka_is_told_and_goes_on(how: Any) -> None:
    with MockCluster(brokers=1, security=TLS, topics={"t": 1}) as cluster:
        cluster.break_handshakes(how)
        told: list[KafkaError] = []
        settings = cluster.client_settings("confluent-kafka")
        producer = a_producer(cluster, **settings, error_cb=told.append)
        producer.poll(LIMIT_S)
        assert TOLD[how] in told[0].str()
        cluster.mend_handshakes()
        producer.produce("t", b"1")
        assert producer.flush(LIMIT_S) == 0


def test_aiokafka_is_told() -> None:
    async def begin(cluster: MockCluster) -> None:
        producer = AIOKafkaProducer(**cluster.client_settings("aiokafka"))
        try:
            await producer.start()
        finally:
            await producer.stop()

    with MockCluster(brokers=1, security=TLS) as cluster:
        cluster.break_handshakes("plain-text", broker=1)
        with pytest.raises(KafkaConnectionError, match="Unable to bootstrap"):
            asyncio.run(begin(cluster))
        assert cluster.handshakes()["hits"] > 0


def test_what_is_refused() -> None:
    with MockCluster(brokers=1, security=TLS) as cluster:
        with pytest.raises(ConflictError, match="no handshake goes wrong"):
            cluster.mend_handshakes()
        with pytest.raises(OptionError, match="no way 'stal' to break a handshake: did you mean 'stall'"):
            cluster.break_handshakes("stal")  # type: ignore[arg-type]
        with pytest.raises(OptionError, match="times is 0: give 1 or more"):
            cluster.break_handshakes("stall", times=0)
        with pytest.raises(NotThereError, match="no broker 7"):
            cluster.break_handshakes("stall", broker=7)
        cluster.break_handshakes("stall")
        with pytest.raises(ConflictError, match="handshakes go wrong like that already"):
            cluster.break_handshakes("stall")
    with (
        MockCluster(brokers=1) as cluster,
        pytest.raises(ConflictError, match="start the cluster with tls=True"),
    ):
        cluster.break_handshakes("cut")
