"""Clients that speak something else than this listener does, and what is said of clients."""

import contextlib
import http.client
import socket
import ssl
from pathlib import Path
from typing import Any

import pytest

from mockbroker import MockCluster
from mockbroker.rig.client import Client, DisconnectedError
from mockbroker.server.observer import ClientConnection, SilentObserver

from ..driving.clients import address


class Heard(SilentObserver):
    """Keeps what is said of clients."""

    def __init__(self) -> None:
        self.software: list[str] = []
        self.told: list[str] = []

    def identified(self, connection: ClientConnection) -> None:
        self.software.append(f"{connection.client.software_name} {connection.client.software_version}")

    def malformed(self, connection: ClientConnection, reason: str) -> None:
        self.told.append(reason)

    def mismatched(self, connection: ClientConnection, why: str) -> None:
        self.told.append(why)


def tls(where: tuple[str, int]) -> None:
    context = ssl.create_default_context()
    with socket.create_connection(where, timeout=30) as sock, contextlib.suppress(OSError):
        context.wrap_socket(sock, server_hostname="localhost")


def web(where: tuple[str, int]) -> None:
    for method in ("GET", "POST"):
        connection = http.client.HTTPConnection(*where, timeout=30)
        with contextlib.suppress(http.client.HTTPException, OSError):
            connection.request(method, "/topics", body=b"{}")
            connection.getresponse()
        connection.close()


def sasl(where: tuple[str, int]) -> None:
    with Client(*where) as client:
        for _ in range(2):
            assert client.call("sasl_handshake", 1, {"mechanism": "PLAIN"})["error_code"] != "NONE"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (tls, ["it sent a TLS handshake, but this listener is PLAINTEXT: set security.protocol=PLAINTEXT"]),
        (web, ["it sent an HTTP request, but this is a Kafka listener"] * 2),
        (sasl, ["asks for SASL, but this listener is PLAINTEXT: set security.protocol=PLAINTEXT"]),
    ],
    ids=["tls", "http", "sasl"],
)
def test_a_client_of_another_protocol_is_told_by_its_name(call: Any, said: list[str]) -> None:
    heard = Heard()
    with MockCluster(brokers=1, observer=heard) as cluster:
        call(address(cluster))
        cluster.run(lambda _: None)
    assert [line.startswith(start) for line, start in zip(heard.told, said, strict=True)] == [True] * len(
        said
    )


def test_it_is_known_by_its_first_four_bytes_however_they_come() -> None:
    heard = Heard()
    with MockCluster(brokers=1, observer=heard) as cluster:
        for hello in (b"\x16\x03\x01\x02", b"GET ", b"\x7f\xff\xff\xff"):
            with socket.create_connection(address(cluster), timeout=30) as sock:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for byte in hello:
                    sock.sendall(bytes([byte]))
                assert sock.recv(1) == b""
    assert [line.split(",")[0].split(":")[0] for line in heard.told] == [
        "it sent a TLS handshake",
        "it sent an HTTP request",
        "a frame of 2147483647 bytes",
    ]


@pytest.mark.parametrize("kept", ["nothing", "trace", "capture", "fault", "lost"])
def test_the_software_of_a_client_is_known_whatever_is_kept_and_whatever_goes_wrong(
    kept: str, tmp_path: Path
) -> None:
    choices: dict[str, dict[str, Any]] = {
        "nothing": {},
        "trace": {"trace": True},
        "capture": {"capture": tmp_path / "wire.pcapng"},
        "fault": {"faults": [{"do": "delay", "ms": 1, "optional": True}]},
        "lost": {"faults": [{"do": "disconnect", "api": "ApiVersions"}]},
    }
    options = choices[kept]
    heard = Heard()
    asked = {"client_software_name": "my-client", "client_software_version": "1.2.3"}
    lost = pytest.raises(DisconnectedError) if kept == "lost" else contextlib.nullcontext()
    with (
        MockCluster(brokers=1, observer=heard, **options) as cluster,
        Client(*address(cluster)) as client,
        lost,
    ):
        client.call("api_versions", 3, asked)
    assert heard.software == ["my-client 1.2.3"]
