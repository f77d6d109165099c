"""Attacks on listeners with TLS, before anybody logs in. The attacker ends with an error if it was let in.

The cluster has the listener that the good client uses, and another one with TLS, which asks for certificates.
"""

import ssl
import tempfile
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from benchmarks.attacking import LetInError, Target, ask, begun, unended
from benchmarks.tls_records import ALERT, DATA, HANDSHAKE, RECORD_HEAD, Shaken12, Shaken13, anonymous
from benchmarks.wire import Writer
from mockbroker.protocol.api_keys import ApiKey

_CERTIFICATES: Final = 100
_HUGE: Final = 3_000_000
"""Bytes."""
_AT_ONCE: Final = 1000
"""So many records are sent by one call."""
_TIMES: Final = 20
"""So many calls send on one connection."""
_ANSWERS: Final = 10
_IN_THE_TICKET: Final = 100
"""So many bytes before the end of a hello, which has a ticket and what binds it."""


def unended_handshakes(target: Target) -> None:
    """1,000 connections that begin a handshake of TLS and do not end it; those that are closed come again."""
    hello = _hello()
    unended(target.at("SSL"), [hello, hello[: len(hello) // 2]])


def handshakes(target: Target) -> None:
    """Whole handshakes of TLS, one after the other."""
    _shake(target, [anonymous()], let_in=True)


def certificates(target: Target) -> None:
    """Handshakes with a chain of 100 certificates that nobody knows."""
    authority = trustme.CA()
    leaf = authority.issue_cert("client")
    others = b"".join(authority.create_child_ca().cert_pem.bytes() for _ in range(_CERTIFICATES))
    key = leaf.private_key_pem.bytes()
    _shake(target, [_showing(leaf.cert_chain_pems[0].bytes() + others, key)])


def huge_certificates(target: Target) -> None:
    """Handshakes with 3 MB of certificates: one that is so large, and a chain of as many as that is."""
    large, key = _certificate(_HUGE)
    small, key_of_small = _certificate(0)
    chain = small * (_HUGE // len(small))
    found = []
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        found += [_showing(large, key, version), _showing(chain, key_of_small, version)]
    _shake(target, found)


def _certificate(bytes_more: int) -> tuple[bytes, bytes]:
    """One that nobody knows, with an extension of so many bytes, and its key (PEM)."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "client")])
    now = datetime.now(UTC)
    extension = x509.UnrecognizedExtension(x509.ObjectIdentifier("1.3.6.1.4.1.99999.1"), bytes(bytes_more))
    signed = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(extension, critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return signed.public_bytes(Encoding.PEM), private


def _showing(chain: bytes, key: bytes, version: ssl.TLSVersion | None = None) -> ssl.SSLContext:
    found = anonymous(version)
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder) / "chain.pem"
        there.write_bytes(key + chain)
        found.load_cert_chain(there)
    return found


def _shake(target: Target, contexts: list[ssl.SSLContext], *, let_in: bool = False) -> None:
    """Handshakes, and a request after each. LetInError if that is answered and may not be."""
    there, request = target.at("SSL"), _request()
    begun()
    turn = 0
    while target.going_on:
        turn += 1
        with suppress(OSError), there.connect() as sock:
            sock.settimeout(1)
            with contexts[turn % len(contexts)].wrap_socket(sock) as secured:
                ask(secured, request)
                if not let_in:
                    raise LetInError("a certificate was taken that nobody knows")


def tickets(target: Target) -> None:
    """Sessions that are resumed by a ticket, and hellos with a ticket of which a bit was changed."""
    there, request = target.at("SSL"), _request()
    context = anonymous(ssl.TLSVersion.TLSv1_3)

    def resume(session: ssl.SSLSession | None) -> tuple[ssl.SSLSession | None, bool | None]:
        with there.connect() as sock, context.wrap_socket(sock, session=session) as secured:
            ask(secured, request)
            return secured.session, secured.session_reused

    session, _ = resume(None)
    session, resumed = resume(session)
    if not resumed:
        raise ConnectionError("the broker resumes no session")
    hello = _hello(context, session)
    wrong = hello[:-_IN_THE_TICKET] + bytes([hello[-_IN_THE_TICKET] ^ 1]) + hello[1 - _IN_THE_TICKET :]
    begun()
    while target.going_on:
        with suppress(OSError):
            session, _ = resume(session)
        with suppress(OSError), there.connect() as sock:
            sock.sendall(wrong)
            sock.recv(1)


def renegotiations(target: Target) -> None:
    """TLS 1.2: after the handshake another hello, and another one, as fast as the broker takes them."""
    there = target.at("SSL")

    def ask_again(times: int, at_once: int) -> None:
        with there.connect() as sock:
            shaken = Shaken12(sock)
            hello = shaken.hello[RECORD_HEAD:]
            for _ in range(times):
                sock.sendall(b"".join(shaken.record(HANDSHAKE, hello) for _ in range(at_once)))
                heard = {shaken.heard() for _ in range(at_once)}
                if heard != {ALERT}:
                    raise LetInError(f"the broker renegotiates: it has sent records of the types {heard}")

    ask_again(1, 1)
    begun()
    while target.going_on:
        with suppress(OSError):
            ask_again(_TIMES, _AT_ONCE)


def key_updates(target: Target) -> None:
    """TLS 1.3: other keys after each record, as fast as the broker takes them; it has to change its own, too.
    Every second connection reads nothing."""
    there, request = target.at("SSL"), _request()
    with there.connect() as sock:
        shaken = Shaken13(sock)
        # After tickets and an alert the connection would be closed.
        for _ in range(_ANSWERS):
            sock.sendall(shaken.key_update(asks=False) + shaken.record(DATA, request))
            shaken.heard()
    begun()
    turn = 0
    while target.going_on:
        turn += 1
        with suppress(OSError), there.connect() as sock:
            shaken = Shaken13(sock)
            sock.settimeout(1)
            for _ in range(_TIMES):
                sock.sendall(b"".join(shaken.key_update(asks=True) for _ in range(_AT_ONCE)))
                if turn % 2:
                    sock.recv(1 << 20)


TLS_ATTACKS: Final[dict[str, Callable[[Target], None]]] = {
    "unended-tls": unended_handshakes,
    "handshakes": handshakes,
    "certificates": certificates,
    "huge-certs": huge_certificates,
    "tickets": tickets,
    "renegotiations": renegotiations,
    "key-updates": key_updates,
}


def _hello(context: ssl.SSLContext | None = None, session: ssl.SSLSession | None = None) -> bytes:
    written = ssl.MemoryBIO()
    with suppress(ssl.SSLWantReadError):
        (context or anonymous()).wrap_bio(ssl.MemoryBIO(), written, session=session).do_handshake()
    return written.read()


def _request() -> bytes:
    return bytes(Writer(ApiKey.METADATA, 1, flexible=False).put("l", 0).done())
