"""Java's client logs in with a token that Kafka's tool has created, and nothing tells the token's HMAC."""

import base64
import logging
from pathlib import Path
from typing import Any

import pytest

from mockbroker import MockCluster, Security
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.rig.client import Client, encode, flexible
from mockbroker.rig.real_tools import Tools
from mockbroker.server import masking

from .. import needs
from ..clients.console import VERSION
from ..driving.scram import ScramClient

KEY = "the secret key of tokens"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"


def a_cluster(**options: Any) -> MockCluster:
    security = Security(sasl="scram-sha-256", users={"alice": "secret"})
    config = {"delegation.token.secret.key": KEY}
    return MockCluster(brokers=1, security=security, config=config, topics={"t": 1}, trace=True, **options)


@pytest.mark.needs(*needs.JAVA)
def test_java_logs_in_with_a_token(tmp_path: Path) -> None:
    with a_cluster() as cluster:
        tools, servers = Tools(VERSION), ("--bootstrap-server", cluster.bootstrap_servers)
        settings = cluster.client_settings("java", user="alice")
        _write(tmp_path / "alice.properties", settings)
        asked = ("--create", "--max-life-time-period", "-1", "--command-config", "alice.properties")
        out, errors = tools.run(
            "org.apache.kafka.tools.DelegationTokenCommand", *servers, *asked, folder=tmp_path
        )
        token_id, hmac, owner = out.splitlines()[-1].split()[:3]
        assert owner == "User:alice", out + errors
        login = f'{SCRAM} required username="{token_id}" password="{hmac}" tokenauth="true";'
        _write(tmp_path / "token.properties", {**settings, "sasl.jaas.config": login})
        given = ("--topic", "t", "--max-messages", "5", "--producer.config", "token.properties")
        out, errors = tools.run(
            "org.apache.kafka.tools.VerifiableProducer", *servers, *given, folder=tmp_path
        )
        assert '"acked":5' in out, out + errors
        assert {event.row()["principal"] for event in cluster.trace.events("login")} == {"User:alice"}
        assert hmac not in str(cluster.trace)


def _write(file: Path, settings: Any) -> None:
    file.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))


def test_nothing_tells_the_hmac(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "mockbroker")
    capture, trace = tmp_path / "all.pcapng", tmp_path / "trace.jsonl"
    with a_cluster(capture=capture) as cluster:
        host, port = cluster.bootstrap_servers.split(":")
        with Client(host, int(port)) as client:
            _log_in(client, ScramClient("alice", "secret"))
            hmacs = []
            for _ in range(2):
                answer = client.call("create_delegation_token", 3, {"renewers": [], "max_lifetime": -1})
                hmacs.append(answer["hmac"])
            described = client.call("describe_delegation_token", 3, {"owners": None})
            assert [each["hmac"] for each in described["tokens"]] == hmacs
            client.call("renew_delegation_token", 2, {"hmac": hmacs[0], "renew_period": -1})
            client.call("expire_delegation_token", 1, {"hmac": hmacs[0], "expiry_time_period": 60_000})
            resource = {"resource_type": 4, "resource_name": "1", "configuration_keys": None}
            (found,) = client.call("describe_configs", 1, {"resources": [resource]})["results"]
        cluster.trace.write(trace)
        shown = f"{cluster!r} {cluster.trace} {found}"
    written = capture.read_bytes()
    assert answer["token_id"].encode() in written
    for told in (written, trace.read_bytes(), shown.encode(), caplog.text.encode()):
        assert KEY.encode() not in told
        for hmac in hmacs:
            for secret in (hmac, base64.b64encode(hmac), hmac.hex().encode(), repr(hmac).encode()):
                assert secret not in told


def _log_in(client: Client, scram: ScramClient) -> None:
    client.call("sasl_handshake", 1, {"mechanism": "SCRAM-SHA-256"})
    first = client.call("sasl_authenticate", 2, {"auth_bytes": scram.first()})["auth_bytes"]
    last = client.call("sasl_authenticate", 2, {"auth_bytes": scram.final(first)})
    assert scram.proves(last["auth_bytes"])


@pytest.mark.parametrize("version", [1, 2])
def test_a_capture_has_the_period_beside_a_hidden_hmac(version: int) -> None:
    api, hmac = "renew_delegation_token", b"h" * 64
    body = encode(api, version, {"hmac": hmac, "renew_period": 60_000})
    _, header = Client("nowhere", 0).header(ApiKey.RENEW_DELEGATION_TOKEN, version, flexible(api, version))
    masked = masking.request(header + body)
    assert masked[4:] == (header + body).replace(hmac, bytes(64))
