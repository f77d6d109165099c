"""Request headers of all versions (KIP-482 for the flexible ones), in size-delimited frames."""

import struct
from typing import Final, NamedTuple

from . import primitives

MAX_FRAME_BYTES: Final = 100 * 1024 * 1024
"""Kafka's default for `socket.request.max.bytes`."""

_FIXED: Final = struct.Struct(">hhih")
API_VERSIONS: Final = 18


class MalformedRequestError(ValueError):
    """Bytes that are not a Kafka request: the connection is closed, as by a real broker."""


class RequestHeader(NamedTuple):
    """Header of a request; `size` is its length up to the client id, without tagged fields."""

    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None
    size: int


def parse_header(frame: bytes | memoryview) -> RequestHeader:
    """Reads header versions 1 and 2 alike, up to the client id; any negative length means null.

    MalformedRequestError.
    """
    try:
        key, version, correlation_id, length = _FIXED.unpack_from(frame)
    except struct.error:
        raise MalformedRequestError(
            f"a frame of {len(frame)} bytes is shorter than a request header"
        ) from None
    if length < 0:
        return RequestHeader(key, version, correlation_id, None, 10)
    end = 10 + length
    if end > len(frame):
        raise MalformedRequestError(f"client id of {length} bytes in a frame of {len(frame)}")
    return RequestHeader(key, version, correlation_id, primitives.text_of(frame[10:end]), end)


def skip_tags(frame: bytes | memoryview, offset: int) -> int:
    """The offset after the tagged fields of a flexible header. MalformedRequestError."""
    try:
        return primitives.skip_tags(frame, offset)
    except (IndexError, ValueError) as error:
        raise MalformedRequestError(f"tagged fields of the header: {error}") from error
