"""Recognises clients that speak another protocol, or another security protocol than the listener's."""

from typing import Final

from ..protocol.headers import MAX_FRAME_BYTES

_HTTP: Final = frozenset((b"GET ", b"POST", b"PUT ", b"HEAD", b"DELE", b"OPTI", b"PATC", b"CONN", b"PRI "))
RECORD_HEAD: Final = 5
"""Bytes with which every record of TLS begins (RFC 8446, 5.1)."""
_ALERT: Final = 21
_INTERNAL_ERROR: Final = bytes((_ALERT, 3, 3, 0, 2, 2, 80))
TLS_HANDSHAKE: Final = b"\x16\x03"
"""Record type and major version, with which every ClientHello begins (RFC 8446, 5.1)."""
SASL_HANDSHAKE: Final = 17


def other(protocol: str) -> str:
    """What the client should be configured with."""
    return f"this listener is {protocol}: set security.protocol={protocol} in the client"


def no_sasl(protocol: str) -> str:
    """What is the matter with a SaslHandshake."""
    return f"asks for SASL, but {other(protocol)}"


def no_tls(beginning: bytes, protocol: str) -> str | None:
    """What is the matter with the first bytes at a listener with TLS, if they do not begin a handshake."""
    if beginning[:1] == TLS_HANDSHAKE[:1]:
        return None
    what = "an HTTP request" if beginning[:4] in _HTTP else "plain text"
    return f"it sent {what} in place of a TLS handshake, but {other(protocol)}"


def answer_to_no_tls(beginning: bytes) -> bytes:
    """What Java's TLS says before it closes the connection."""
    return b"" if beginning[0] == _ALERT else _INTERNAL_ERROR


def no_frame(beginning: bytes, size: int, protocol: str) -> str:
    """Why four bytes that are no frame size are refused, with what they probably are."""
    if beginning.startswith(TLS_HANDSHAKE):
        return f"it sent a TLS handshake, but {other(protocol)}"
    if beginning in _HTTP:
        return "it sent an HTTP request, but this is a Kafka listener (the control API has a port of its own)"
    return f"a frame of {size} bytes: from 0 to {MAX_FRAME_BYTES} is what a broker takes"
