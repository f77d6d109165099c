"""TLS and logins: of clients at the proxy, and of the proxy and clients at the cluster."""

import asyncio
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from aiokafka import AIOKafkaConsumer
from confluent_kafka import Producer

from mockbroker import MockCluster, MockProxy, OptionError, Security, UpstreamError
from mockbroker.protocol.answers import answer_codec
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.metadata import MetadataResponse
from mockbroker.protocol.messages.sasl_handshake import SaslHandshakeResponse
from mockbroker.proxying.options import ProxyOptions

from .between import LISTENER, Between, request, taken

PASSWORD: Final = "correct horse"
USERS: Final = {"alice": PASSWORD}
ALICE: Final = {"user": "alice", "password": PASSWORD}
TLS: Final = Security(tls=True)


def authority(cluster: MockCluster) -> Path | None:
    found: Path | None = cluster.do(lambda target: target.access).ca
    return found


async def read(settings: Mapping[str, Any], count: int) -> list[bytes]:
    consumer = AIOKafkaConsumer("orders", **settings, group_id="readers", auto_offset_reset="earliest")
    async with consumer:
        return [(await consumer.getone()).value for _ in range(count)]


@pytest.mark.parametrize(
    ("theirs", "ours", "login"),
    [
        (TLS, None, {}),
        (None, Security(tls=True, client_auth="required"), {}),
        (Security(sasl="PLAIN", users=USERS), None, {"mechanism": "PLAIN", **ALICE}),
        (Security(sasl="SCRAM-SHA-256", users=USERS), TLS, {"mechanism": "scram-sha-256", **ALICE}),
        (Security(tls=True, sasl="SCRAM-SHA-512", users=USERS), TLS, {"mechanism": "SCRAM-SHA-512", **ALICE}),
    ],
    ids=["TLS behind", "TLS in front", "login", "login and TLS in front", "login and TLS on both sides"],
)
def test_clients_get_in_and_faults_hit_them(
    theirs: Security | None, ours: Security | None, login: dict[str, str], tmp_path: Path
) -> None:
    with MockCluster(security=theirs, topics={"orders": 3}) as cluster:
        given: Any = {"upstream_ca": authority(cluster), "security": ours, "trace": True}
        with MockProxy(cluster.bootstrap_servers, **given) as proxy:
            servers = proxy.bootstrap_servers
            lost = proxy.add_fault("disconnect", api="Produce", when="after", times=1)
            settings = proxy.client_settings("confluent-kafka", **login)
            producer = Producer({**settings, "enable.idempotence": True, "log_level": 0})
            for index in range(5):
                producer.produce("orders", f"order {index}")
            assert producer.flush(60) == 0
            assert lost.hits == 1
            found = asyncio.run(read(proxy.client_settings("aiokafka", **login), 5))
            assert sorted(found) == [f"order {index}".encode() for index in range(5)]
            # The addresses that were given are those of the brokers that the cluster tells.
            assert proxy.bootstrap_servers == servers
            assert not proxy.lines
            proxy.trace.write(tmp_path / "trace.jsonl")
    assert PASSWORD not in (tmp_path / "trace.jsonl").read_text()


def test_brokers_are_shown_a_certificate() -> None:
    security = Security(tls=True, client_auth="required")
    with MockCluster(security=security, brokers=1, topics={"orders": 1}) as cluster:
        access = cluster.do(lambda target: target.access)
        files: Any = {"upstream_certificate": access.client, "upstream_key": access.client_key}
        with MockProxy(cluster.bootstrap_servers, upstream_ca=access.ca, **files) as proxy:
            producer = Producer(proxy.client_settings("confluent-kafka"))
            producer.produce("orders", "order")
            assert producer.flush(60) == 0
        with (
            pytest.raises(UpstreamError, match=r"certificate required .*--upstream-certificate"),
            MockProxy(cluster.bootstrap_servers, upstream_ca=access.ca),
        ):
            pytest.fail("it started")


def test_a_wrong_password_is_refused_by_the_cluster() -> None:
    with (
        MockCluster(security=Security(sasl="PLAIN", users=USERS), brokers=1) as cluster,
        MockProxy(cluster.bootstrap_servers) as proxy,
    ):
        settings = proxy.client_settings("confluent-kafka", mechanism="PLAIN", user="alice", password="wrong")
        told: list[str] = []
        settings |= {"error_cb": lambda error: told.append(error.name()), "log_level": 0}
        producer = Producer(settings)
        while "_AUTHENTICATION" not in told:
            producer.poll(1)


@pytest.mark.parametrize(
    ("theirs", "certificate", "given", "why"),
    [
        (TLS, "valid", {}, "it wants TLS: give --upstream-tls"),
        (TLS, "valid", {"upstream_tls": True}, "its certificate is not valid: .*--upstream-ca"),
        (TLS, "another-host", {"upstream_ca": ...}, "its certificate is not valid: .*127.0.0.1"),
        (None, "", {"upstream_tls": True}, "TLS|handshake"),
    ],
    ids=["TLS is wanted", "unknown authority", "another host", "no TLS"],
)
def test_a_cluster_that_can_not_be_asked_is_told(
    theirs: Security | None, certificate: Any, given: dict[str, Any], why: str
) -> None:
    with MockCluster(security=theirs, brokers=1) as cluster:
        if certificate:
            cluster.show_certificate(certificate)
        options: dict[str, Any] = {
            name: authority(cluster) if each is ... else each for name, each in given.items()
        }
        with (
            pytest.raises(UpstreamError, match=f"127.0.0.1:[0-9]+: .*({why})"),
            MockProxy(cluster.bootstrap_servers, **options),
        ):
            pytest.fail("it started")


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"upstream_ca": "nowhere.pem"}, "upstream_ca can't be used: .*nowhere.pem"),
        ({"upstream_certificate": "nowhere.pem"}, "upstream_certificate can't be used: .*nowhere.pem"),
        ({"upstream_key": "nowhere.key"}, "upstream_key is the key of a certificate"),
        ({"security": {"sasl": "PLAIN", "users": USERS}}, "security of a proxy has sasl: leave it out"),
        ({"security": {"listeners": {"A": "PLAINTEXT"}}}, "security of a proxy has listeners"),
        ({"security": {}}, "add tls=True"),
        ({"security": {"tls": True, "certificate": "nowhere.pem"}}, "can't be used: .*nowhere.pem"),
    ],
    ids=[
        "no file",
        "no certificate for brokers",
        "only a key",
        "login",
        "listeners",
        "nothing",
        "no certificate",
    ],
)
def test_what_can_not_be_is_refused(given: Any, why: str) -> None:
    with (
        MockCluster(brokers=1) as cluster,
        pytest.raises(OptionError, match=why),
        MockProxy(cluster.bootstrap_servers, **given),
    ):
        pytest.fail("it started")


@pytest.mark.parametrize(
    ("ours", "sent", "line"),
    [
        (TLS, b"\0\0\0\x0a\0\x12\0\0\0\0\0\1\xff\xff", "127.0.0.1: closed, TLS failed: "),
        (
            None,
            b"\x16\x03\x01\x02\0",
            "127.0.0.1: closed, it sent a TLS handshake, but the proxy was started",
        ),
    ],
    ids=["plain to TLS", "TLS to plain"],
)
def test_a_client_of_another_protocol_is_told_once(ours: Security | None, sent: bytes, line: str) -> None:
    with (
        MockCluster(brokers=1) as cluster,
        MockProxy(cluster.bootstrap_servers, security=ours) as proxy,
    ):
        host, _, port = proxy.bootstrap_servers.rpartition(":")
        socket.create_connection((host, int(port)), timeout=60).close()
        for _ in range(2):
            with socket.create_connection((host, int(port)), timeout=60) as sock:
                sock.sendall(sent)
                while sock.recv(1000):
                    pass
        (told,) = proxy.lines
        assert told.startswith(line)


def framed(data: bytes) -> bytes:
    return len(data).to_bytes(4) + data


@pytest.mark.parametrize(("mechanism", "tokens"), [("PLAIN", 1), ("SCRAM-SHA-256", 2)])
def test_tokens_without_headers_are_passed_on(mechanism: str, tokens: int) -> None:
    between = Between({"do": "delay", "ms": 1, "api": "FindCoordinator"})
    session = between.session
    sent = request("sasl_handshake", 0, 1, mechanism=mechanism)
    # Nobody knows yet what comes after it.
    session.from_client(sent + framed(b"1st"))
    assert taken(session.to_broker) == sent
    session.from_broker(answer_codec(ApiKey.SASL_HANDSHAKE, 0).encode(1, SaslHandshakeResponse()))
    assert taken(session.to_client)
    assert taken(session.to_broker) == framed(b"1st")
    session.from_broker(framed(b"?"))
    for _ in range(tokens - 1):
        session.from_client(framed(b"2nd"))
        assert taken(session.to_broker) == framed(b"2nd")
        session.from_broker(framed(b""))
    assert taken(session.to_client)
    between.ask("metadata", 9, 2, topics=[])
    assert between.answer(ApiKey.METADATA, 9, MetadataResponse(), 2) == MetadataResponse()
    assert not between.said


def test_a_handshake_that_was_refused_is_followed_by_requests() -> None:
    between = Between()
    between.ask("sasl_handshake", 0, 1, mechanism="PLAIN")
    refused = SaslHandshakeResponse(ErrorCode.UNSUPPORTED_SASL_MECHANISM, ["SCRAM-SHA-256"])
    assert between.answer(ApiKey.SASL_HANDSHAKE, 0, refused, 1) == refused
    assert between.ask("metadata", 9, 2, topics=[]) == request("metadata", 9, 2, topics=[])


def test_tokens_of_which_nobody_knows_the_end_are_refused() -> None:
    between = Between()
    between.session.from_client(request("sasl_handshake", 0, mechanism="GSSAPI"))
    assert between.session.wants_close
    assert not between.session.to_broker.size
    (line,) = between.said
    assert "GSSAPI" in line
    assert "KIP-152" in line


def test_a_login_without_headers_succeeds() -> None:
    with (
        MockCluster(security=Security(sasl="PLAIN", users=USERS), brokers=1) as cluster,
        MockProxy(cluster.bootstrap_servers) as proxy,
    ):
        host, _, port = proxy.bootstrap_servers.rpartition(":")
        with socket.create_connection((host, int(port)), timeout=60) as sock, sock.makefile("rb") as come:

            def asked(data: bytes) -> bytes:
                sock.sendall(data)
                return come.read(int.from_bytes(come.read(4)))

            shaken = asked(request("sasl_handshake", 0, 1, mechanism="PLAIN"))
            assert answer_codec(ApiKey.SASL_HANDSHAKE, 0).decode(shaken).error_code == ErrorCode.NONE
            assert asked(framed(f"\0alice\0{PASSWORD}".encode())) == b""
            told = answer_codec(ApiKey.METADATA, 9).decode(asked(request("metadata", 9, 2, topics=[])))
            assert [each.port for each in told.brokers] == [int(port)]
        assert not proxy.lines


def test_a_broker_gets_the_listener_of_its_address() -> None:
    between = Between()
    upstream = between.upstream
    upstream.begins_at([("seed-1", 1), ("seed-2", 2), ("seed-1", 1)])
    assert [(each.id, each.address) for each in upstream.seeds] == [(-1, ("seed-1", 1)), (-2, ("seed-2", 2))]
    local = upstream.seeds[1].local
    assert upstream.told(7, "seed-2", 2) == local
    assert upstream.told(8, "others", 3) == (LISTENER[0], LISTENER[1] + 7)
    assert (upstream.broker(-2).id, upstream.brokers[7]) == (7, upstream.seeds[1])
    # It may move, and another one may take its address.
    assert upstream.told(7, "moved", 4) == local
    assert upstream.told(9, "seed-2", 2) == (LISTENER[0], LISTENER[1] + 8)


def test_a_mapped_address_stands_for_what_the_cluster_tells() -> None:
    options = ProxyOptions([("localhost", 1)], map={("broker-1", 9092): ("localhost", 1)})
    assert options.told_as(("localhost", 1)) == ("broker-1", 9092)
    assert options.reached_at(("broker-1", 9092)) == ("localhost", 1)
    assert options.told_as(("localhost", 2)) == options.reached_at(("localhost", 2)) == ("localhost", 2)
