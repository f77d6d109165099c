"""Where a story is told: handshakes at listeners with TLS, and what is seen of those that fail."""

import re
import socket
import ssl
import struct
import subprocess
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from subprocess import PIPE, STDOUT
from typing import Any, Final, NamedTuple, cast

from mockbroker.protocol.errors import error_name
from mockbroker.rig.brokers import Brokers, SecureBrokers
from mockbroker.rig.client import Client, DisconnectedError
from mockbroker.rig.network import Stream

from ..sasl.stage import Login, SaslStage

CLOSED: Final = "closed"
CLOSED_WELL: Final = "close_notify"
NOTHING: Final = "nothing"
"""Came, although brokers have read what was sent."""
_WAIT_S: Final = 60.0
_SOON_S: Final = 0.1
_OTHERS: Final = 4
"""So many other clients are served meanwhile: more than threads read from sockets."""
_ALERT: Final = re.compile(r"^(?:TLSV1|SSLV3|TLSV13)_ALERT_")
_HOSTS: Final = re.compile(r"\[\[(.*?)\]\]")
_VERSIONS: Final = {
    "1.0": ssl.TLSVersion.TLSv1,
    "1.1": ssl.TLSVersion.TLSv1_1,
    "1.2": ssl.TLSVersion.TLSv1_2,
    "1.3": ssl.TLSVersion.TLSv1_3,
}
_NO_SECURITY: Final = "DEFAULT:@SECLEVEL=0"
"""OpenSSL speaks versions before 1.2 only so."""
API_VERSIONS: Final = struct.pack(">ihhih1s", 11, 18, 0, 1, 1, b"c")
"""With its size."""


ALERT: Final = 21
HANDSHAKE: Final = 22
DATA: Final = 23
_RECORDS: Final = {20: "change", ALERT: "alert", HANDSHAKE: "handshake", DATA: "encrypted"}
_HEAD: Final = struct.Struct(">BHH")


class Hello(NamedTuple):
    """How a client begins: its oldest and newest version, and its certificate if it shows one."""

    versions: tuple[str, str] = ("1.2", "1.3")
    shows: str | None = None


HELLO: Final = Hello()


class Tls:
    """A connection with TLS, or one that failed: `shaken` is its version, or what is `said` of that."""

    def __init__(self, address: tuple[str, int], context: ssl.SSLContext) -> None:
        raw = socket.create_connection(address, _WAIT_S)
        self._socket: Any = raw
        try:
            self._socket = context.wrap_socket(raw, server_hostname="localhost", suppress_ragged_eofs=False)
            self.shaken = str(self._socket.version())
        except (OSError, ssl.SSLError) as error:
            self.shaken = said(error)
            self.close()

    @property
    def there(self) -> bool:
        return self.shaken.startswith("TLSv")

    def client(self) -> Client:
        """It asks on this connection."""
        return Client("localhost", 0, network=_There(self._socket))

    def asks(self) -> str:
        """What ApiVersions is answered."""
        return self.sends(API_VERSIONS)

    def sends(self, data: bytes) -> str:
        try:
            self._socket.sendall(data)
        except OSError as error:
            return said(error)
        return self.hears()

    def hears(self) -> str:
        try:
            return "answered" if self._socket.recv(1 << 16) else CLOSED_WELL
        except OSError as error:
            return said(error)

    def sends_below(self, data: bytes) -> str:
        """Bytes that TLS knows nothing of."""
        socket.socket.sendall(self._socket, data)
        return self.hears()

    def says_goodbye(self) -> str:
        try:
            self._socket.unwrap()
        except OSError as error:
            return said(error)
        return CLOSED_WELL

    def certificate(self) -> bytes:
        """Of the broker (DER)."""
        found = self._socket.getpeercert(binary_form=True)
        assert isinstance(found, bytes)
        return found

    def close(self) -> None:
        self._socket.close()


class Plain:
    """A connection without TLS. `settle` returns once the broker has read what was sent."""

    def __init__(self, address: tuple[str, int], settle: Callable[[], None]) -> None:
        self._socket = socket.create_connection(address, _WAIT_S)
        self._settle = settle

    def sends(self, data: bytes) -> Any:
        """What comes back until nothing comes, and how it ends."""
        with suppress(ConnectionError):
            self._socket.sendall(data)
        return self.hears()

    def hears(self) -> Any:
        """The types of records, what alerts say, and whether the connection ends."""
        self._socket.settimeout(_SOON_S)
        found, how = self._read(b"")
        if how == NOTHING:
            self._settle()
            found, how = self._read(found)
        return _records(found), how

    def ends(self) -> Any:
        """The same, once it has ended."""
        self._socket.settimeout(_WAIT_S)
        found, how = self._read(b"")
        return _records(found), how

    def _read(self, found: bytes) -> tuple[bytes, str]:
        try:
            while data := self._socket.recv(1 << 16):
                found += data
        except OSError as error:
            return found, said(error)
        return found, CLOSED

    def finishes(self) -> Any:
        self._socket.shutdown(socket.SHUT_WR)
        return self.hears()

    def close(self) -> None:
        self._socket.close()


def said(error: Exception) -> str:
    """What a client sees when it fails. Whether the end of a connection is a reset depends on what was sent
    meanwhile."""
    if isinstance(error, TimeoutError):
        return NOTHING
    if isinstance(error, ssl.SSLEOFError | ConnectionError):
        return CLOSED
    if isinstance(error, ssl.SSLZeroReturnError):
        return CLOSED_WELL
    if isinstance(error, ssl.SSLError) and error.reason:
        alert = _ALERT.sub("", error.reason)
        return ("alert: " if alert != error.reason else "") + alert.lower().replace("_", " ")
    return repr(error)


def _in_order(found: re.Match[str]) -> str:
    return f"[[{'], ['.join(sorted(found[1].split('], [')))}]]"


def _records(data: bytes) -> list[str]:
    """Of TLS: which they are, or that it is none."""
    found = []
    while len(data) >= _HEAD.size and data[0] in _RECORDS:
        kind, version, size = _HEAD.unpack_from(data)
        body, data = data[_HEAD.size :][:size], data[_HEAD.size + size :]
        alert = f"{_RECORDS[ALERT]} {version:04x} {body[:2].hex()}"
        found.append(alert if kind == ALERT and size == 2 else _RECORDS[kind])
    # How many messages follow the hello of a server, and in how many records, is up to TLS.
    return [*dict.fromkeys(found), *(["no record"] if data else [])]


def renegotiates(address: tuple[str, int], ca: str) -> list[str]:
    """What a client hears that asks for a new handshake (TLS 1.2). By OpenSSL's program: Python can't."""
    host, port = address
    command = ["openssl", "s_client", "-connect", f"{host}:{port}", "-tls1_2", "-CAfile", ca, "-msg"]
    asked = subprocess.Popen(command, stdin=PIPE, stdout=PIPE, stderr=STDOUT, text=True)
    with asked:
        assert asked.stdin is not None
        assert asked.stdout is not None
        found: list[str] = []
        for line in asked.stdout:
            if "Verify return code" in line:
                asked.stdin.write("R\n")
                asked.stdin.flush()
            elif line.startswith("RENEGOTIATING"):
                found.append("asks")
            elif found and line.startswith("<<< TLS"):
                found.append(line.partition("], ")[2].strip())
            if len(found) > 1 and not found[-1].startswith("warning"):
                break
        asked.kill()
    return found


def record(kind: int, body: bytes) -> bytes:
    """One of TLS 1.2 (RFC 5246, 6.2.1)."""
    return _HEAD.pack(kind, 0x0303, len(body)) + body


class _There:
    """Gives a `Client` a connection that there is."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def connect(self, host: str, port: int, timeout_s: float) -> Stream:
        return self._stream

    def now_s(self) -> float:
        raise NotImplementedError

    def sleep(self, seconds: float) -> None:
        raise NotImplementedError


class TlsStage(SaslStage):
    """Handshakes with one broker, and changes of what it shows."""

    def __init__(self, brokers: Brokers, name: str = "") -> None:
        super().__init__(brokers, name)
        self.secure = cast(SecureBrokers, brokers)
        self._open: list[Any] = []

    def context(self, hello: Hello = HELLO) -> ssl.SSLContext:
        certificates = self.secure.certificates
        found = ssl.create_default_context(cafile=certificates.pem("ca"))
        with warnings.catch_warnings():
            # Python warns of old versions.
            warnings.simplefilter("ignore", DeprecationWarning)
            found.minimum_version, found.maximum_version = (_VERSIONS[each] for each in hello.versions)
        if hello.versions[0] < "1.2":
            found.set_ciphers(_NO_SECURITY)
        if hello.shows is not None:
            found.load_cert_chain(certificates.pem(hello.shows))
        return found

    def shake(self, listener: str, hello: Hello = HELLO) -> Tls:
        found = Tls(self.secure.address(listener), self.context(hello))
        self._open.append(found)
        return found

    def seen(self, listener: str, hello: Hello = HELLO) -> list[str]:
        """How the handshake went, and what a request was answered after it."""
        tls = self.shake(listener, hello)
        return [tls.shaken, *([tls.asks()] if tls.there else [])]

    def named(self, listener: str, hello: Hello, *, log_in: bool = False) -> Any:
        """The client's principal, as CreateDelegationToken says it; alice may have logged in."""
        tls = self.shake(listener, hello)
        if not tls.there:
            return tls.shaken
        client = tls.client()
        try:
            if log_in:
                Login(client).plain("alice", "secret")
            client.send("create_delegation_token", 1, {"renewers": [], "max_lifetime": -1})
            frame = client.read_frame()
        except OSError as error:
            return said(error)
        code, size = struct.unpack_from(">hh", frame, 4)
        at = 8 + size
        (more,) = struct.unpack_from(">h", frame, at)
        return error_name(code), f"{frame[8:at].decode()}:{frame[at + 2 :][:more].decode()}"

    def hello(self) -> bytes:
        """The first bytes of a client."""
        out = ssl.MemoryBIO()
        begun = self.context().wrap_bio(ssl.MemoryBIO(), out, server_hostname="localhost")
        with suppress(ssl.SSLWantReadError):
            begun.do_handshake()
        return out.read()

    def login_at(self, listener: str, hello: Hello = HELLO) -> Login:
        """A connection on which a client may log in. DisconnectedError"""
        tls = self.shake(listener, hello)
        if not tls.there:
            raise DisconnectedError(tls.shaken)
        return Login(tls.client())

    def plain(self, listener: str = "") -> "Plain":
        """A connection without TLS, by default to the listener that has none."""
        there = self.client()
        address = self.secure.address(listener) if listener else (there.host, there.port)
        found = Plain(address, partial(self._served, listener))
        self._open.append(found)
        return found

    def _served(self, listener: str) -> None:
        for _ in range(_OTHERS):
            if listener:
                seen = self.seen(listener)
                assert seen[-1] == "answered", f"another client of {listener}: {seen}"
            else:
                with self.brokers.client(self.online[0]) as other:
                    other.api_versions()

    def alter(
        self,
        listener: str,
        *,
        validate_only: bool = False,
        delete: bool = False,
        of_all: bool = False,
        **values: str,
    ) -> Any:
        """Changes configurations that begin with `ssl.` of a listener, which may be empty, at the broker."""
        prefix = f"listener.name.{listener.lower()}." if listener else ""
        configs = [
            {"name": f"{prefix}ssl.{name.replace('_', '.')}", "config_operation": int(delete), "value": value}
            for name, value in values.items()
        ]
        resource = {
            "resource_type": 4,
            "resource_name": "" if of_all else str(self.online[0]),
            "configs": configs,
        }
        asked = {"resources": [resource], "validate_only": validate_only}
        (found,) = self.ask("incremental_alter_configs", asked)["responses"]
        return found["error_code"], self.shown(found["error_message"])

    def configs(self, listener: str) -> list[Any]:
        """What is described that begins with the listener's name."""
        resource = {"resource_type": 4, "resource_name": str(self.online[0]), "configuration_keys": None}
        (found,) = self.ask("describe_configs", {"resources": [resource], "include_synonyms": True})[
            "results"
        ]
        prefix = f"listener.name.{listener.lower()}."
        configs = [each for each in found["configs"] if each["name"].startswith(prefix)]
        for each in (*configs, *(synonym for config in configs for synonym in config["synonyms"])):
            each["value"] = self.shown(each["value"])
        return sorted(configs, key=lambda each: str(each["name"]))

    def shown(self, text: str | None) -> str | None:
        """Without the folder of certificates, and with hosts in their order: that of hash tables differs."""
        if text is None:
            return None
        return _HOSTS.sub(_in_order, text.replace(str(self.secure.certificates.folder), "FOLDER"))

    def shows(self, listener: str, hello: Hello = HELLO) -> str:
        """The certificate of its broker, by the name of its file; or how the handshake failed."""
        context = self.context(hello)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        tls = Tls(self.secure.address(listener), context)
        self._open.append(tls)
        return self.secure.certificates.name_of(tls.certificate()) if tls.there else tls.shaken

    def shows_at_last(self, listener: str, name: str) -> str:
        """Brokers learn of a configuration after it was answered, and each of their threads by itself."""

        def known() -> bool:
            return all(self.shows(listener) == name for _ in range(2 * _OTHERS))

        self.brokers.until(known, f"the certificate {name}")
        return self.shows(listener)

    def until_seen(self, listener: str, hello: Hello, what: str) -> None:
        def known() -> bool:
            return all(self.seen(listener, hello)[-1] == what for _ in range(2 * _OTHERS))

        self.brokers.until(known, f"{listener}: {what}")

    def close(self) -> None:
        for each in self._open:
            each.close()
        super().close()
