"""TLS from outside: who is let in, who is not, and what is said about it."""

import select
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme

from mockbroker import MockCluster, OptionError, Security
from mockbroker.server.observer import ClientConnection, SilentObserver
from mockbroker.server.tls import TlsSocket

from ..driving import wire
from ..driving.clients import address

SECONDS = 30
HANGING = 200
ASKED = 100
NOT_TLS = "in place of a TLS handshake, but this listener is SSL: set security.protocol=SSL in the client"


class Heard(SilentObserver):
    def __init__(self) -> None:
        self.refusals: list[str] = []

    def malformed(self, connection: ClientConnection, reason: str) -> None:
        self.refusals.append(reason)


def shaken(cluster: MockCluster, ca: Path | str, certificate: Path | None = None) -> ssl.SSLSocket:
    context = ssl.create_default_context(cafile=ca)
    if certificate is not None:
        context.load_cert_chain(certificate)
    raw = socket.create_connection(address(cluster), SECONDS)
    return context.wrap_socket(raw, server_hostname="localhost")


def asked(sock: socket.socket) -> int:
    """How many brokers answer one ApiVersions."""
    sock.sendall(wire.api_versions())
    return len(wire.answers(sock.recv(1 << 16)))


def ca_of(cluster: MockCluster) -> str:
    return str(cluster.client_settings("confluent-kafka")["ssl.ca.location"])


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def cluster(heard: Heard) -> Iterator[MockCluster]:
    with MockCluster(brokers=1, security=Security(tls=True), observer=heard) as cluster:
        yield cluster


def refused(sock: socket.socket) -> bool:
    """Whether the broker closes the connection."""
    try:
        while sock.recv(1 << 16):
            pass
    except ConnectionResetError:
        pass
    return True


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (
            wire.api_versions(),
            f"it sent plain text {NOT_TLS}",
        ),
        (
            b"GET / HTTP/1.1\r\n\r\n",
            f"it sent an HTTP request {NOT_TLS}",
        ),
    ],
    ids=["kafka", "http"],
)
def test_plain_text_is_answered_by_one_line(
    cluster: MockCluster, heard: Heard, sent: bytes, said: str
) -> None:
    with socket.create_connection(address(cluster), SECONDS) as sock:
        sock.sendall(sent)
        assert refused(sock)
    assert heard.refusals == [said]
    with shaken(cluster, ca_of(cluster)) as good:
        assert asked(good) == 1


def test_a_client_that_does_not_trust_the_authority(
    cluster: MockCluster, heard: Heard, tmp_path: Path
) -> None:
    trustme.CA().cert_pem.write_to_path(str(tmp_path / "other.pem"))
    with pytest.raises(ssl.SSLCertVerificationError):
        shaken(cluster, tmp_path / "other.pem")
    with shaken(cluster, ca_of(cluster)) as good:
        assert asked(good) == 1
    (said,) = heard.refusals
    assert said.startswith("TLS failed: the client does not trust the broker's certificate")


@pytest.mark.parametrize("client_auth", ["requested", "required"])
def test_clients_that_show_no_certificate(heard: Heard, client_auth: str) -> None:
    security = Security(tls=True, client_auth=client_auth)
    with MockCluster(brokers=1, security=security, observer=heard) as cluster:
        with shaken(cluster, ca_of(cluster)) as sock:
            if client_auth == "requested":
                assert asked(sock) == 1
            else:
                with pytest.raises(ssl.SSLError):
                    asked(sock)
        cluster.run(lambda _: None)  # The client hears of it before the observer does.
        expected = ["TLS failed: the client shows no certificate, and ssl.client.auth is required"]
        assert heard.refusals == (expected if client_auth == "required" else [])


def test_certificates_of_ones_own(tmp_path: Path, heard: Heard) -> None:
    ca, other = trustme.CA(), trustme.CA()
    ca.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    own = ca.issue_cert("localhost", "127.0.0.1")
    own.private_key_and_cert_chain_pem.write_to_path(str(tmp_path / "broker.pem"))
    for name, by in (("good", ca), ("bad", other)):
        shown = by.issue_cert("me@localhost", common_name="me", organization_name="a, b")
        shown.private_key_and_cert_chain_pem.write_to_path(str(tmp_path / f"{name}.pem"))
    certificate, ca_file = tmp_path / "broker.pem", tmp_path / "ca.pem"
    security = Security(tls=True, client_auth="required", certificate=certificate, ca=ca_file)
    with MockCluster(brokers=1, security=security, observer=heard, trace=True) as cluster:
        with shaken(cluster, tmp_path / "ca.pem", tmp_path / "good.pem") as sock:
            assert asked(sock) == 1
        (login,) = cluster.trace.events("login")
        assert login.row()["principal"].startswith("User:CN=me,")
        assert login.row()["principal"].endswith("O=a\\, b")
        with (
            shaken(cluster, tmp_path / "ca.pem", tmp_path / "bad.pem") as sock,
            pytest.raises(ssl.SSLError),
        ):
            asked(sock)
        cluster.run(lambda _: None)  # The client hears of it before the observer does.
        assert "the client's certificate is not valid" in heard.refusals[0]


def test_a_certificate_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "broker.pem").write_text("no certificate")
    security = Security(tls=True, certificate=tmp_path / "broker.pem")
    with pytest.raises(OptionError, match=r"the certificate can't be used: .*broker\.pem"):
        MockCluster(security=security).start()


def test_files_are_kept_in_a_folder_and_removed_from_others(tmp_path: Path) -> None:
    with MockCluster(brokers=1, security=Security(tls=True)) as cluster:
        made = Path(ca_of(cluster))
        assert made.exists()
    assert not made.parent.exists()
    with MockCluster(brokers=1, security=Security(tls=True, folder=tmp_path)) as cluster:
        assert ca_of(cluster) == str(tmp_path / "ca.pem")
    assert {each.name for each in tmp_path.iterdir()} == {
        *("broker.key", "broker.pem", "ca.pem", "client.key", "client.pem"),
        *("keystore.p12", "truststore.p12"),
    }


def test_handshakes_that_never_end_cost_others_nothing_and_are_ended(
    heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Work is counted: how often sockets are read while a good client asks."""
    reads = 0
    read = TlsSocket.recv_into

    def counted(self: TlsSocket, buffer: bytearray) -> int:
        nonlocal reads
        reads += 1
        return read(self, buffer)

    monkeypatch.setattr(TlsSocket, "recv_into", counted)
    config = {"mockbroker.max.handshake.ms": "3000"}
    with MockCluster(brokers=1, security=Security(tls=True), config=config, observer=heard) as cluster:
        hanging = [socket.create_connection(address(cluster), SECONDS) for _ in range(HANGING)]
        for each in hanging[::2]:
            each.sendall(b"\x16\x03\x01")
        with shaken(cluster, ca_of(cluster)) as good:
            assert asked(good) == 1
            before = reads
            for _ in range(ASKED):
                assert asked(good) == 1
            assert reads - before <= 2 * ASKED
            for each in hanging:
                assert refused(each)
                each.close()
            assert asked(good) == 1
        assert (
            heard.refusals == ["it has not logged in within 3000 ms (mockbroker.max.handshake.ms)"] * HANGING
        )


def test_more_goes_both_ways_than_a_socket_takes(cluster: MockCluster) -> None:
    """The client sends much before it reads at all."""
    count = 20_000
    with shaken(cluster, ca_of(cluster)) as sock:
        sock.sendall(wire.api_versions())
        size = len(sock.recv(1 << 16))
        sock.setblocking(False)
        left, read = memoryview(wire.api_versions() * count), 0
        while read < size * count:
            reads: list[ssl.SSLSocket] = [] if left and read == 0 else [sock]
            blocked = False
            try:
                left = left[sock.send(left[: 1 << 14]) :] if left else left
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                blocked = True
            if blocked or reads:
                try:
                    read += len(sock.recv(1 << 16))
                except ssl.SSLWantReadError:
                    select.select([sock], [], [], 0.05 if left else SECONDS)
        assert read == size * count


def test_many_small_records_at_once_are_all_read(cluster: MockCluster) -> None:
    """Each request is a record of its own."""
    count = 2_000
    with shaken(cluster, ca_of(cluster)) as sock:
        sock.sendall(wire.api_versions())
        size, read = len(sock.recv(1 << 16)), 0
        for _ in range(count):
            sock.sendall(wire.api_versions())
        while read < size * count:
            read += len(sock.recv(1 << 16))
        assert read == size * count


def test_three_megabytes_of_certificates_are_refused(heard: Heard, tmp_path: Path) -> None:
    leaf = trustme.CA().issue_cert("client@localhost")
    chain = leaf.cert_chain_pems[0].bytes()
    (tmp_path / "client.pem").write_bytes(leaf.private_key_pem.bytes() + chain * (3_000_000 // len(chain)))
    security = Security(tls=True, client_auth="requested")
    with MockCluster(brokers=1, security=security, observer=heard) as cluster:
        refusal = pytest.raises((ConnectionError, ssl.SSLError))
        with refusal, shaken(cluster, ca_of(cluster), tmp_path / "client.pem") as sock:
            asked(sock)
        with shaken(cluster, ca_of(cluster)) as good:
            assert asked(good) == 1
    assert heard.refusals == ["TLS failed: excessive message size"]
