"""Connections with TLS on which the client makes the records itself, once OpenSSL has shaken hands.

So it can send what no library of Python's sends.
"""

import hashlib
import hmac
import socket
import ssl
import struct
import tempfile
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from benchmarks.attacking import exactly

CHANGE, ALERT, HANDSHAKE, DATA = 20, 21, 22, 23
"""Types of records."""
_HEAD: Final = struct.Struct(">BHH")
RECORD_HEAD: Final = _HEAD.size
_HASH: Final = "sha384"
_KEY_BYTES: Final = 32
_RANDOM: Final = slice(11, 43)
"""Where the random bytes of a hello are, from its record's first byte on."""


def anonymous(version: ssl.TLSVersion | None = None) -> ssl.SSLContext:
    """Of a client that trusts everybody and shows no certificate."""
    found = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    found.check_hostname = False
    found.verify_mode = ssl.CERT_NONE
    if version is not None:
        found.minimum_version = found.maximum_version = version
    return found


class Shaken(ABC):
    """A connection after its handshake. OSError, of which ssl.SSLError is one, if that fails."""

    version: ssl.TLSVersion
    secret: str
    """How `SSLKEYLOGFILE` calls the secret of what the client sends."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self.hello = self._answered = b""
        with tempfile.TemporaryDirectory() as folder:
            keys = Path(folder) / "keys"
            self._shake(str(keys))
            secrets = [
                line.split()[2] for line in keys.read_text().splitlines() if line.startswith(self.secret)
            ]
        self.begin(bytes.fromhex(secrets[0]), self.hello[_RANDOM], self._answered[_RANDOM])

    def _shake(self, keys: str) -> None:
        context = anonymous(self.version)
        context.set_ciphers("ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384")
        context.keylog_filename = keys
        came, goes = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = context.wrap_bio(came, goes)
        while True:
            try:
                tls.do_handshake()
            except ssl.SSLWantReadError:
                pass
            else:
                break
            sent = goes.read()
            self.hello = self.hello or sent
            self._sock.sendall(sent)
            data = self._sock.recv(1 << 16)
            if not data:
                raise ConnectionError("closed by the broker")
            self._answered += data
            came.write(data)
        self._sock.sendall(goes.read())

    @abstractmethod
    def begin(self, secret: bytes, client: bytes, server: bytes) -> None:
        """Makes the keys, of the secret and the random bytes of both hellos."""

    @abstractmethod
    def record(self, kind: int, body: bytes) -> bytes:
        """The next one that the client sends."""

    def heard(self) -> int:
        """The type of the next record that comes, as anybody sees it. ConnectionError"""
        kind, _, size = _HEAD.unpack(exactly(self._sock, _HEAD.size))
        exactly(self._sock, size)
        return int(kind)


class Shaken12(Shaken):
    """By TLS 1.2 with AES-GCM (RFC 5246, RFC 5288)."""

    version = ssl.TLSVersion.TLSv1_2
    secret = "CLIENT_RANDOM"

    def begin(self, secret: bytes, client: bytes, server: bytes) -> None:
        seed = b"key expansion" + server + client
        block, before = b"", seed
        while len(block) < 2 * _KEY_BYTES + 4:
            before = _hmac(secret, before)
            block += _hmac(secret, before + seed)
        self._aead, self._salt = AESGCM(block[:_KEY_BYTES]), block[2 * _KEY_BYTES :][:4]
        # The last message of the handshake was the first that was encrypted.
        self._next = 1

    def record(self, kind: int, body: bytes) -> bytes:
        number = struct.pack(">Q", self._next)
        self._next += 1
        sealed = self._aead.encrypt(self._salt + number, body, number + _HEAD.pack(kind, 0x0303, len(body)))
        return _HEAD.pack(kind, 0x0303, len(number + sealed)) + number + sealed


class Shaken13(Shaken):
    """By TLS 1.3 with TLS_AES_256_GCM_SHA384 (RFC 8446)."""

    version = ssl.TLSVersion.TLSv1_3
    secret = "CLIENT_TRAFFIC_SECRET_0"

    def begin(self, secret: bytes, client: bytes, server: bytes) -> None:
        self._secret = secret
        self._aead = AESGCM(_expanded(secret, b"key", _KEY_BYTES))
        self._iv = int.from_bytes(_expanded(secret, b"iv", 12))
        self._next = 0

    def record(self, kind: int, body: bytes) -> bytes:
        head = _HEAD.pack(DATA, 0x0303, len(body) + 1 + 16)
        nonce = (self._iv ^ self._next).to_bytes(12)
        self._next += 1
        return head + self._aead.encrypt(nonce, body + bytes([kind]), head)

    def key_update(self, *, asks: bool) -> bytes:
        """New keys from the next record on; the other side may be asked for new ones, too."""
        found = self.record(HANDSHAKE, b"\x18\0\0\1" + bytes([asks]))
        self.begin(_expanded(self._secret, b"traffic upd", len(self._secret)), b"", b"")
        return found


def _hmac(key: bytes, data: bytes) -> bytes:
    return hmac.digest(key, data, _HASH)


def _expanded(secret: bytes, label: bytes, size: int) -> bytes:
    """HKDF-Expand-Label (RFC 8446, 7.1), of no more than one hash."""
    assert size <= hashlib.new(_HASH).digest_size
    label = b"tls13 " + label
    return _hmac(secret, struct.pack(">HB", size, len(label)) + label + b"\0\1")[:size]
