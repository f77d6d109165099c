"""What has to be known of requests that are not decoded."""

import struct
from typing import Final

from ..protocol.headers import MalformedRequestError, skip_tags
from ..protocol.primitives import read_uvarint

head_of: Final = struct.Struct(">hhi").unpack_from
"""API key, version and correlation id of a request."""
_CLIENT_ID: Final = struct.Struct(">h").unpack_from
_TRANSACTIONAL_SINCE: Final = 3
_FLEXIBLE_SINCE: Final = 9


def expects_answer(frame: bytes | memoryview, version: int) -> bool:
    """Whether a Produce has acks other than 0. MalformedRequestError."""
    try:
        (length,) = _CLIENT_ID(frame, 8)
        offset = 10 + max(length, 0)
        if version >= _FLEXIBLE_SINCE:
            length, offset = read_uvarint(frame, skip_tags(frame, offset))
            offset += max(length - 1, 0)
        elif version >= _TRANSACTIONAL_SINCE:
            offset += 2 + max(int.from_bytes(frame[offset : offset + 2], signed=True), 0)
        acks = frame[offset : offset + 2]
        if len(acks) < 2:
            raise IndexError(offset)
    except (IndexError, ValueError) as error:
        raise MalformedRequestError(f"a Produce v{version} ends before its acks") from error
    return acks != b"\x00\x00"
