"""Recognises clients that speak another protocol, or another security protocol than the listener's."""

from typing import Final

from ..protocol.headers import MAX_FRAME_BYTES

_PLAINTEXT: Final = "this listener is PLAINTEXT: set security.protocol=PLAINTEXT in the client"
_HTTP: Final = frozenset((b"GET ", b"POST", b"PUT ", b"HEAD", b"DELE", b"OPTI", b"PATC", b"CONN", b"PRI "))
_TLS_HANDSHAKE: Final = b"\x16\x03"
"""Record type and major version, with which every ClientHello begins (RFC 8446, 5.1)."""
SASL_HANDSHAKE: Final = 17
SASL: Final = f"asks for SASL, but {_PLAINTEXT}"


def no_frame(beginning: bytes, size: int) -> str:
    """Why four bytes that are no frame size are refused, with what they probably are."""
    if beginning.startswith(_TLS_HANDSHAKE):
        return f"it sent a TLS handshake, but {_PLAINTEXT}"
    if beginning in _HTTP:
        return "it sent an HTTP request, but this is a Kafka listener (the control API has a port of its own)"
    return f"a frame of {size} bytes: from 0 to {MAX_FRAME_BYTES} is what a broker takes"
