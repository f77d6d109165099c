"""TLS between a socket and what reads and writes it. It looks like a socket that does not block."""

import contextlib
import os
import socket
import ssl
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, NoReturn

from .distinguished import subject
from .foreign import RECORD_HEAD, answer_to_no_tls, no_tls
from .tls_records import Records

_READ_BYTES: Final = 64 * 1024
_FEW_BYTES: Final = 4 * 1024
_MOST_RECORDS: Final = 64
"""So many are read at once of what comes after these bytes: new keys, in a record of 27 bytes, take as long
as kilobytes of data."""
_WRITE_BYTES: Final = 64 * 1024
"""How much is encrypted at once."""
_MOST_UNSENT: Final = 256 * 1024
"""A client that lets so much wait that is not even for it to read, such as answers to its new keys, is
dropped."""

_PLAIN: Final = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
"""What a server says that knows no TLS."""

Buffer = bytes | bytearray | memoryview


class Heard(NamedTuple):
    """Is told what becomes of a connection: that its client is known, that there is more to read than the
    kernel knows of, and why the connection ends."""

    shaken: Callable[[], None]
    more: Callable[[], None]
    failed: Callable[[str], None]


class TlsSocket:
    """`recv_into`, `send` and `sendmsg` raise BlockingIOError as sockets do. After that, `send` has to be
    called with the same data again, which may be longer then. `broken` says how the handshake goes wrong, a
    `HandshakeFault`, if it does."""

    def __init__(self, sock: socket.socket, context: ssl.SSLContext, protocol: str, broken: str = "") -> None:
        self._sock = sock
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._in, self._out, server_side=True)
        self._protocol = protocol
        self._broken = broken
        self.heard: Heard | None = None
        self.ready = False
        """Whether the handshake is done."""
        self.has_more = False
        """Whether more was received than was read."""
        self._records = Records()
        self._begins = b""
        """The first bytes, up to those of the head of a record."""
        self._unsent = memoryview(b"")
        self._claimed = 0
        """How much of what is to be sent is encrypted, but not all sent."""
        self._resets = False

    def fileno(self) -> int:
        return self._sock.fileno()

    @property
    def cipher(self) -> str:
        """Version and cipher: `TLSv1.3 TLS_AES_256_GCM_SHA384`."""
        found = self._tls.cipher()
        return f"{self._tls.version()} {found[0]}" if found is not None else ""

    @property
    def name(self) -> str | None:
        """The distinguished name in the client's certificate; None without one."""
        found = self._tls.getpeercert(binary_form=True)
        return subject(found) if found else None

    def recv_into(self, buffer: Buffer) -> int:
        self.has_more = False
        size = self._decrypted(buffer)
        if size is None:
            if not self._receive():
                return 0
            size = self._decrypted(buffer)
        if not self._flush() and len(self._unsent) > _MOST_UNSENT:
            raise ConnectionAbortedError("the client takes nothing")
        if size is None:
            raise BlockingIOError
        if size and (self._tls.pending() or self._in.pending):
            self.has_more = True
            if self.heard is not None:
                self.heard.more()
        return size

    def _receive(self) -> bool:
        """Whether more bytes came; False if the client sends no more."""
        data = self._sock.recv(_FEW_BYTES)
        self._records.first(data, len(data))
        if len(data) == _FEW_BYTES:
            data += self._next_records()
        if len(self._begins) < RECORD_HEAD:
            self._begins += data
            if len(self._begins) >= RECORD_HEAD and (why := no_tls(self._begins, self._protocol)) is not None:
                with contextlib.suppress(OSError):
                    self._sock.send(answer_to_no_tls(self._begins))
                self._end(why)
            self._begins = self._begins[:RECORD_HEAD]
        if data:
            self._in.write(data)
            if self._broken:
                self._break()
        return bool(data)

    def _next_records(self) -> bytes:
        """What else has come. Of many small records the rest is read later, when others had their turn."""
        try:
            there = self._sock.recv(_READ_BYTES, socket.MSG_PEEK)
        except OSError:
            # What came before a reset is read; then the connection is at its end.
            return b""
        size = self._records.first(there, _MOST_RECORDS)
        return self._sock.recv(size) if size else b""

    def _break(self) -> None:
        """The handshake goes wrong (`break_handshakes`)."""
        match self._broken:
            case "stall":
                self._in.read()
            case "cut":
                with contextlib.suppress(ssl.SSLError):
                    self._tls.do_handshake()
                answer = self._out.read()
                self._sock.send(answer[: len(answer) // 2])
                self._end("its TLS handshake was cut")
            case _:
                self._sock.send(_PLAIN)
                self._end("its TLS handshake was answered in plain text")

    def _decrypted(self, buffer: Buffer) -> int | None:
        """How many bytes were read; None if more has to come first, 0 if no more will come."""
        try:
            if not self.ready:
                self._tls.do_handshake()
                self.ready = True
                self._flush()
                if self.heard is not None:
                    self.heard.shaken()
            size: Any = self._tls.read(len(buffer), buffer)
            return int(size)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return None
        except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
            return 0
        except ssl.SSLError as error:
            self._flush()
            self._end(f"TLS failed: {explained(error)}")

    def _end(self, why: str) -> NoReturn:
        if self.heard is not None:
            self.heard.failed(why)
        raise ConnectionAbortedError(why)

    def send(self, data: Buffer) -> int:
        if not self.ready:
            raise BlockingIOError
        if not self._claimed:
            try:
                self._claimed = self._tls.write(memoryview(data)[:_WRITE_BYTES])
            except ssl.SSLError as error:
                raise ConnectionAbortedError(str(error)) from None
        if not self._flush():
            raise BlockingIOError
        sent, self._claimed = self._claimed, 0
        return sent

    def sendmsg(self, buffers: Sequence[Buffer]) -> int:
        whole, size = [], 0
        for each in buffers:
            whole.append(memoryview(each)[: _WRITE_BYTES - size])
            size += len(whole[-1])
            if size == _WRITE_BYTES:
                break
        return self.send(b"".join(whole))

    def _flush(self) -> bool:
        """Sends what is encrypted; False if the kernel did not take all of it."""
        while True:
            if not self._unsent:
                if not self._out.pending:
                    return True
                self._unsent = memoryview(self._out.read())
            elif self._out.pending > _MOST_UNSENT:
                raise ConnectionAbortedError("the client takes nothing")
            try:
                self._unsent = self._unsent[self._sock.send(self._unsent) :]
            except (BlockingIOError, InterruptedError):
                return False

    def setsockopt(self, level: int, name: int, value: bytes) -> None:
        self._resets = self._resets or name == socket.SO_LINGER
        self._sock.setsockopt(level, name, value)

    def close(self) -> None:
        """Says goodbye first, unless the connection is reset."""
        self.heard = None
        if self.ready and not self._resets:
            with contextlib.suppress(OSError, ValueError):
                self._tls.unwrap()
            with contextlib.suppress(OSError):
                self._flush()
        self._sock.close()


def context(
    certificate: str, key: str | None, ca: str | None, client_auth: str, versions: Sequence[str] | None = None
) -> ssl.SSLContext:
    """For brokers, from PEM files; `versions` are those of `ssl.enabled.protocols`. OSError, of which
    ssl.SSLError is one."""
    found = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    found.minimum_version = ssl.TLSVersion.TLSv1_2
    found.options |= ssl.OP_NO_RENEGOTIATION  # as `SslTransportLayer.java`
    if versions and "TLSv1.2" not in versions:
        found.minimum_version = ssl.TLSVersion.TLSv1_3
    if versions and "TLSv1.3" not in versions:
        found.maximum_version = ssl.TLSVersion.TLSv1_2
    found.load_cert_chain(certificate, key)
    if client_auth != "none":
        found.load_verify_locations(ca)
        found.verify_mode = ssl.CERT_REQUIRED if client_auth == "required" else ssl.CERT_OPTIONAL
    if keys := os.environ.get("SSLKEYLOGFILE"):
        found.keylog_filename = keys
    return found


def explained(error: ssl.SSLError) -> str:
    """In words for people who configure a client."""
    reason = error.reason or str(error)
    text = reason.lower().replace("_", " ")
    if "UNKNOWN_CA" in reason or "CERTIFICATE_UNKNOWN" in reason or "BAD_CERTIFICATE" in reason:
        return f"the client does not trust the broker's certificate ({text}): give it the authority's"
    if reason == "PEER_DID_NOT_RETURN_A_CERTIFICATE":
        return "the client shows no certificate, and ssl.client.auth is required"
    if reason == "CERTIFICATE_VERIFY_FAILED":
        return f"the client's certificate is not valid: {getattr(error, 'verify_message', '') or text}"
    return text
