"""What a recording leaves out: secrets always; what is in records unless it is asked for.

Keys of records become letters that are drawn anew for each recording, and are the same for the same key, so
that what compaction and partitioning need can still be told. Values, and values of headers, become `x`. Each
has as many bytes as before. Markers of transactions stay.
"""

import hashlib
import re
import secrets
from collections.abc import Callable
from typing import Any, Final

from ..protocol import message_set
from ..protocol.batch_writing import batch_of, varint_of
from ..protocol.compression import compress, decompress
from ..protocol.record_batch import (
    COMPRESSION_MASK,
    CONTROL,
    HEADER_BYTES,
    field,
    parse_header,
    varint,
)
from .batches import MAGIC_AT, split
from .messages import Change

_SECRETS: Final = frozenset({"auth_bytes", "hmac", "salt", "salted_password"})
_SECRET_CONFIG: Final = re.compile("password|secret|credential|jaas|token|[.]key$", re.IGNORECASE)
_CONFIG_NAMES: Final = ("name", "config_name")


def hiding(*, values: bool) -> Change:
    """Changes entities; `values`: records stay as they are."""
    filler = _Filler()

    def change(owner: Any, name: str, value: Any) -> Any:
        if not value:
            return value
        if name in _SECRETS and isinstance(value, bytes):
            return bytes(len(value))
        if name in ("value", "config_value") and isinstance(value, str) and _is_secret(owner):
            return "x" * len(value)
        if name == "records" and isinstance(value, bytes) and not values:
            return hidden(value, filler.key)
        return value

    return change


def _is_secret(entry: Any) -> bool:
    named = (getattr(entry, each, None) for each in _CONFIG_NAMES)
    return any(isinstance(each, str) and _SECRET_CONFIG.search(each) for each in named)


class _Filler:
    def __init__(self) -> None:
        self._salt = secrets.token_bytes(16)

    def key(self, key: bytes) -> bytes:
        """Letters for a key."""
        digest = hashlib.shake_256(self._salt + key).digest(len(key))
        return bytes(97 + each % 26 for each in digest)


def hidden(records: bytes, key: Callable[[bytes], bytes]) -> bytes:
    """Record batches without what their records say. What follows the last whole one is left out: no
    client reads it."""
    whole, _ = split(records)
    return b"".join(_batch(one, key) if one[MAGIC_AT] == 2 else _message(one, key) for one in whole)


def _batch(batch: bytes, key: Callable[[bytes], bytes]) -> bytes:
    header = parse_header(batch)
    if header.attributes & CONTROL:
        return batch
    codec = header.attributes & COMPRESSION_MASK
    try:
        body = bytes(decompress(codec, batch[HEADER_BYTES:]))
        filled = b"".join(_records(body, header.record_count, key))
    except (ValueError, IndexError):
        # What nobody can read, nobody gets.
        return b""
    return bytes(batch_of(header, compress(codec, filled)))


def _records(body: bytes, count: int, key: Callable[[bytes], bytes]) -> list[bytes]:
    out, at = [], 0
    for _ in range(count):
        size, start = varint(body, at)
        _, middle = varint(body, start + 1)
        _, middle = varint(body, middle)
        own, after = field(body, middle)
        value, after = field(body, after)
        made = body[start:middle] + _sized(own and key(own)) + _sized(value and b"x" * len(value))
        headers, after = varint(body, after)
        made += varint_of(headers)
        for _ in range(headers):
            name, after = field(body, after)
            value, after = field(body, after)
            made += _sized(name) + _sized(value and b"x" * len(value))
        out.append(varint_of(len(made)) + made)
        at = start + size
    return out


def _sized(data: bytes | None) -> bytes:
    return varint_of(-1) if data is None else varint_of(len(data)) + data


def _message(data: bytes, key: Callable[[bytes], bytes]) -> bytes:
    """A message of an old format; a compressed one is left out."""
    try:
        message = message_set.read_message(data)
    except ValueError:
        return b""
    if message.codec:
        return b""
    (record,) = message_set.records(message)
    filled = record._replace(
        key=record.key and key(record.key), value=record.value and b"x" * len(record.value)
    )
    return message_set.message_of(filled, message.magic, data[MAGIC_AT + 1], offset=record.offset)
