"""Requests and answers as captures have them: without passwords, proofs and tokens."""

import struct
from typing import Final

from ..protocol.api_keys import ApiKey
from ..protocol.headers import MalformedRequestError, parse_header

_SIZE: Final = struct.Struct(">i")
_FLEXIBLE_SINCE: Final = 2
_LENGTH_BYTES: Final = 4


def request(frame: bytes) -> bytes:
    """A request with its size in front; the token of a SaslAuthenticate is zeros."""
    hidden = len(frame)
    try:
        key, version, _, _, offset = parse_header(frame)
    except MalformedRequestError:
        return token(frame)
    if key == ApiKey.SASL_AUTHENTICATE:
        hidden = min(
            offset + (_varint_end(frame, offset + 1) if version >= _FLEXIBLE_SINCE else _LENGTH_BYTES), hidden
        )
    return _SIZE.pack(len(frame)) + frame[:hidden] + bytes(len(frame) - hidden)


def token(frame: bytes) -> bytes:
    """A token without a header, with its size in front: zeros."""
    return _SIZE.pack(len(frame)) + bytes(len(frame))


def _varint_end(frame: bytes, offset: int) -> int:
    """How many bytes the tags of the header and the length after them take."""
    at = offset
    while at < len(frame) and frame[at] & 0x80:
        at += 1
    return at + 2 - offset
