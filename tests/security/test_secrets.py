"""Passwords, proofs and tokens are nowhere to be found: not in captures, traces, reports and errors."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaException

from mockbroker import MockCluster, OptionError, Security
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.rig.client import Client
from mockbroker.server import masking

from ..driving.clients import address
from ..driving.real_clients import LIMIT_S, a_consumer, a_producer

PASSWORD = "correct horse battery staple"


def test_nothing_tells_the_password(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "mockbroker")
    security = Security(sasl=["plain", "scram-sha-256"], users={"alice": PASSWORD})
    capture = tmp_path / "all.pcapng"
    with MockCluster(security=security, brokers=1, topics={"t": 1}, capture=capture, trace=True) as cluster:
        for mechanism in ("PLAIN", "SCRAM-SHA-256"):
            settings = cluster.client_settings("confluent-kafka", mechanism=mechanism)
            producer = a_producer(cluster, **settings)
            producer.produce("t", b"a record that is seen")
            assert producer.flush(LIMIT_S) == 0
        wrong = {
            **cluster.client_settings("confluent-kafka", mechanism="PLAIN"),
            "sasl.password": PASSWORD[1:],
        }
        consumer = a_consumer(cluster, "g", **wrong)
        with pytest.raises(KafkaException):
            consumer.list_topics(timeout=1)
        consumer.close()
        cluster.trace.write(tmp_path / "trace.jsonl")
        shown = f"{cluster!r} {security!r} {cluster.trace}"
    written = capture.read_bytes()
    assert b"a record that is seen" in written
    assert b"SCRAM-SHA-256" in written
    trace = (tmp_path / "trace.jsonl").read_text()
    assert '"kind":"login"' in trace
    for told in (written, trace.encode(), shown.encode(), caplog.text.encode()):
        assert PASSWORD[1:].encode() not in told
    assert b",p=" not in written
    assert b"v=" not in written


def test_a_capture_can_still_be_decoded(tmp_path: Path) -> None:
    """The hidden bytes are zeros, as many as there were."""
    for version in (0, 1, 2):
        frames = _frames(version, b"\0alice\0" + PASSWORD.encode() * 20)
        for frame in frames:
            masked = masking.request(frame)
            assert len(masked) == len(frame) + 4
            assert PASSWORD.encode() not in masked
            (asked,) = _decoded(masked[4:], version)
            assert not any(asked)


def _frames(version: int, token: bytes) -> list[bytes]:
    from mockbroker.rig.client import encode, flexible

    body = encode("sasl_authenticate", version, {"auth_bytes": token})
    found = []
    for client_id in ("me", None):
        client = Client("nowhere", 0, client_id)
        _, header = client.header(ApiKey.SASL_AUTHENTICATE, version, flexible("sasl_authenticate", version))
        found.append(header + body)
    return found


def _decoded(frame: bytes, version: int) -> list[bytes]:
    from mockbroker.protocol.codecs import codec
    from mockbroker.protocol.headers import parse_header

    found: Any = codec(ApiKey.SASL_AUTHENTICATE, version).decode(memoryview(frame), parse_header(frame).size)
    return [bytes(found.auth_bytes)]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"sasl": "gssapi"}, "no mechanism 'GSSAPI'"),
        ({"sasl": "plain"}, "nobody could log in by PLAIN: give users"),
        ({"users": {"alice": PASSWORD}}, "users have passwords for PLAIN and SCRAM only"),
        ({"sasl": "plain", "users": {"alice": ""}}, "no name or no password"),
        ({"sasl": "plain", "users": [PASSWORD]}, "users of security: give a dict of texts"),
        ({"listeners": {"A": "TLS"}}, "listener A has the protocol 'TLS'"),
        ({"listeners": {"A": "SASL_SSL"}}, "a listener has SASL: say by which mechanisms"),
        ({"tls": True, "listeners": {"A": "PLAINTEXT"}}, "tls is given, but no listener has TLS"),
        ({"client_auth": "required"}, "are for TLS: add tls=True"),
        ({"sasl": "oauthbearer", "token_expires_in": 0}, "give seconds, 1 or more"),
        ({"token_expires_in": 60}, "add it to sasl"),
        ({"tls": True, "client_auth": "always"}, "client_auth is 'always'"),
        ({"tls": True, "key": "k.pem"}, "give the brokers' certificate too"),
        ({"tsl": True}, "security has no option 'tsl': did you mean 'tls'?"),
        ("tls", "security is 'tls': give a mockbroker.Security, or a dict"),
    ],
)
def test_what_is_wrong_is_said_without_passwords(wrong: Any, said: str) -> None:
    with pytest.raises(OptionError) as caught:
        MockCluster(security=wrong).start()
    assert said in str(caught.value)
    assert PASSWORD not in str(caught.value)


def test_hosts_and_ports_by_listener_are_told_in_configs() -> None:
    security = Security(listeners={"IN": "PLAINTEXT", "OUT": "PLAINTEXT"})
    with MockCluster(security=security, brokers=2, port=0) as cluster:
        first, second = (
            cluster.client_settings("java", listener=each)["bootstrap.servers"] for each in ("IN", "OUT")
        )
        assert first == cluster.bootstrap_servers
        assert len({*first.split(","), *second.split(",")}) == 4
        host, port = second.split(",")[0].split(":")
        with Client(host, int(port)) as client:
            told = client.call("metadata", 1, {"topics": None})["brokers"]
            assert [f"{each['host']}:{each['port']}" for each in told] == second.split(",")
            resource = {"resource_type": 4, "resource_name": "1", "configuration_keys": ["listeners"]}
            (found,) = client.call("describe_configs", 1, {"resources": [resource]})["results"]
        ports = [each.split(",")[0].split(":")[1] for each in (first, second)]
        expected = f"IN://127.0.0.1:{ports[0]},OUT://127.0.0.1:{ports[1]}"
        assert [each["value"] for each in found["configs"]] == [expected]
        with Client(*address(cluster)) as client:
            told = client.call("metadata", 1, {"topics": None})["brokers"]
            assert [f"{each['host']}:{each['port']}" for each in told] == first.split(",")


@pytest.mark.mockbroker(brokers=1, security={"sasl": "plain", "users": {"alice": "secret"}})
def test_the_marker(mock_cluster: MockCluster) -> None:
    settings = mock_cluster.client_settings("kafka-python")
    assert settings["sasl_plain_password"] == "secret"
    json.dumps(settings)
