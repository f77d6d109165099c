"""What one listener is configured with (`listener.name.…`): others are not."""

from __future__ import annotations

import re
from typing import Any

import pytest
from confluent_kafka import KafkaError

from mockbroker import ConfigError, MockCluster, OptionError, Security

from ..driving.real_clients import LIMIT_S, a_producer

SASL = Security(
    sasl=["plain", "scram-sha-256", "scram-sha-512"],
    users={"alice": "secret"},
    listeners={"INSIDE": "SASL_PLAINTEXT", "OUTSIDE": "SASL_PLAINTEXT"},
)
TLS = Security(listeners={"INSIDE": "SSL", "OUTSIDE": "SSL"})
SOON = {"connection.failed.authentication.delay.ms": "0"}


def outcome(cluster: MockCluster, listener: str, **more: Any) -> str:
    """By which principal a client writes that has the settings of a listener, or why it can't."""
    told: list[KafkaError] = []
    settings = {**cluster.client_settings("confluent-kafka", listener=listener), **more}
    producer = a_producer(cluster, **{**settings, "error_cb": told.append})
    producer.produce("t", b"1")
    for _ in range(10 * LIMIT_S):
        if not producer.flush(0.1):
            return str([each.row()["principal"] for each in cluster.trace.events("login")][-1])
        if told:
            producer.purge()
            producer.flush(LIMIT_S)
            return told[0].name()
    pytest.fail("it is told nothing")


def test_mechanisms() -> None:
    config = {"listener.name.inside.sasl.enabled.mechanisms": "SCRAM-SHA-256,PLAIN", **SOON}
    with MockCluster(security=SASL, brokers=1, topics={"t": 1}, config=config, trace=True) as cluster:
        inside = cluster.client_settings("confluent-kafka", listener="INSIDE")
        outside = cluster.client_settings("confluent-kafka", listener="OUTSIDE")
        assert (inside["sasl.mechanism"], outside["sasl.mechanism"]) == ("SCRAM-SHA-256", "SCRAM-SHA-512")
        assert outcome(cluster, "INSIDE") == outcome(cluster, "OUTSIDE") == "User:alice"
        assert outcome(cluster, "INSIDE", **{"sasl.mechanism": "SCRAM-SHA-512"}) == "_AUTHENTICATION"
        assert any("there is SCRAM-SHA-256, PLAIN" in each for each in cluster.hints())
        with pytest.raises(OptionError, match="there is SCRAM-SHA-256, PLAIN"):
            cluster.client_settings("java", listener="INSIDE", mechanism="scram-sha-512")


@pytest.mark.parametrize(
    ("mechanism", "listener", "lasts_ms"),
    [
        ("PLAIN", "INSIDE", 3000),
        ("SCRAM-SHA-256", "INSIDE", 60_000),
        ("PLAIN", "OUTSIDE", 90_000),
    ],
)
def test_how_long_sessions_last(mechanism: str, listener: str, lasts_ms: int) -> None:
    config = {
        "connections.max.reauth.ms": "90000",
        "listener.name.inside.connections.max.reauth.ms": "60000",
        "listener.name.inside.plain.connections.max.reauth.ms": "3000",
    }
    options: dict[str, Any] = {"config": config, "clock": "manual", "trace": True}
    with MockCluster(security=SASL, brokers=1, topics={"t": 1}, **options) as cluster:
        assert outcome(cluster, listener, **{"sasl.mechanism": mechanism}) == "User:alice"
        answers = [each.row() for each in cluster.trace.events("answer")]
        found = [each["body"]["session_lifetime_ms"] for each in answers if each["api"] == "SaslAuthenticate"]
        assert found[-1] == lasts_ms


def test_certificates_of_clients_and_their_principals() -> None:
    config = {
        "listener.name.outside.ssl.client.auth": "required",
        "listener.name.outside.ssl.principal.mapping.rules": "RULE:^CN=(.*?),.*$/$1/",
    }
    with MockCluster(security=TLS, brokers=1, topics={"t": 1}, config=config, trace=True) as cluster:
        without = {"ssl.certificate.location": "", "ssl.key.location": ""}
        assert outcome(cluster, "INSIDE", **without) == "User:ANONYMOUS"
        assert outcome(cluster, "OUTSIDE") == "User:client"
        assert outcome(cluster, "OUTSIDE", **without) in ("_SSL", "_TRANSPORT", "_ALL_BROKERS_DOWN")


def test_whose_tokens() -> None:
    security = Security(
        sasl="oauthbearer",
        signed_tokens=True,
        issuer="inside",
        listeners={"INSIDE": "SASL_PLAINTEXT", "OUTSIDE": "SASL_PLAINTEXT"},
    )
    config = {"listener.name.outside.oauthbearer.sasl.oauthbearer.expected.issuer": "outside", **SOON}
    with MockCluster(security=security, brokers=1, topics={"t": 1}, config=config, trace=True) as cluster:
        assert outcome(cluster, "INSIDE") == "User:client"
        assert outcome(cluster, "OUTSIDE") == "_AUTHENTICATION"
        assert any("the issuer (iss) of the token is another one" in each for each in cluster.hints())


@pytest.mark.parametrize(
    ("security", "name", "value", "error", "why"),
    [
        (SASL, "listener.name.insid.sasl.enabled.mechanisms", "PLAIN", OptionError, "did you mean 'inside'"),
        (None, "listener.name.inside.ssl.client.auth", "none", OptionError, "no such listener"),
        (SASL, "listener.name.inside.num.partitions", "1", ConfigError, "only these can be set for one"),
        (SASL, "listener.name.inside.plain.ssl.client.auth", "none", ConfigError, "only these can be set"),
        (SASL, "listener.name.inside.sasl.enabled.mechanisms", "GSSAPI", OptionError, "add it to sasl of"),
        (SASL, "listener.name.inside.connections.max.reauth.ms", "soon", ConfigError, "Not a number"),
        (TLS, "listener.name.inside.ssl.client.auth", "maybe", ConfigError, "maybe"),
    ],
)
def test_what_is_wrong(
    security: Security | None, name: str, value: str, error: type[Exception], why: str
) -> None:
    with pytest.raises(error, match=re.escape(why)):
        MockCluster(security=security, brokers=1, config={name: value}).start()
