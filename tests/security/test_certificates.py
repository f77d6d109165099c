"""Brokers show another certificate while clients are at work."""

import ssl
from typing import Any

import pytest
from confluent_kafka import KafkaError

from mockbroker import ConflictError, MockCluster, OptionError, Security
from mockbroker.server import certificates

from ..driving.real_clients import LIMIT_S, a_producer
from .test_tls import asked, ca_of, shaken

REFUSED = {
    "expired": "certificate has expired",
    "not-yet-valid": "certificate is not yet valid",
    "another-host": "Hostname mismatch",
    "another-authority": "unable to get local issuer certificate",
}


@pytest.mark.parametrize("kind", REFUSED)
def test_whoever_connects_from_now_on_sees_it(kind: Any) -> None:
    with MockCluster(brokers=1, security=Security(tls=True)) as cluster:
        ca = ca_of(cluster)
        with shaken(cluster, ca) as before:
            cluster.show_certificate(kind)
            with pytest.raises(ssl.SSLCertVerificationError, match=REFUSED[kind]):
                shaken(cluster, ca)
            assert asked(before) > 0
        cluster.show_certificate("valid")
        with shaken(cluster, ca) as after:
            assert asked(after) > 0


def test_a_file_of_ones_own(tmp_path: Any) -> None:
    mine = certificates.Authority(tmp_path, ["localhost"])
    files = mine.files()
    with MockCluster(brokers=1, security=Security(tls=True)) as cluster:
        cluster.show_certificate(files.certificate, files.key)
        with shaken(cluster, str(files.ca)) as sock:
            assert asked(sock) > 0
        with pytest.raises(OptionError, match="the certificate can't be used"):
            cluster.show_certificate("no-such-file")
        with shaken(cluster, str(files.ca)) as sock:
            assert asked(sock) > 0


def test_an_authority_of_ones_own_issues_nothing_here(tmp_path: Any) -> None:
    files = certificates.Authority(tmp_path, ["localhost"]).files()
    security = Security(tls=True, certificate=files.certificate, key=files.key)
    with (
        MockCluster(brokers=1, security=security) as cluster,
        pytest.raises(ConflictError, match="certificates of your own"),
    ):
        cluster.show_certificate("expired")


@pytest.mark.parametrize("security", [None, Security(sasl="plain", users={"a": "b"})])
def test_without_tls_there_is_none(security: Security | None) -> None:
    with (
        MockCluster(brokers=1, security=security) as cluster,
        pytest.raises(ConflictError, match="start the cluster with tls=True"),
    ):
        cluster.show_certificate("expired")


def test_confluent_kafka_is_told_when_it_connects_again() -> None:
    with MockCluster(brokers=1, security=Security(tls=True), topics={"t": 1}) as cluster:
        told: list[KafkaError] = []
        settings = cluster.client_settings("confluent-kafka") | {"reconnect.backoff.max.ms": 100}
        producer = a_producer(cluster, **settings, error_cb=told.append)
        producer.produce("t", b"before")
        assert producer.flush(LIMIT_S) == 0
        cluster.show_certificate("expired")
        cluster.stop_broker(1)
        cluster.start_broker(1)
        producer.produce("t", b"after")
        for _ in range(LIMIT_S):
            producer.poll(1)
            if any(each.code() == KafkaError._SSL for each in told):
                break
        assert any(each.code() == KafkaError._SSL for each in told), told
        cluster.show_certificate("valid")
        assert producer.flush(LIMIT_S) == 0
        assert [each.value for each in cluster.records("t")] == [b"before", b"after"]
