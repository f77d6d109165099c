"""Requests as bytes, by hand: independent of the code under test."""

import struct
from typing import Final

from crc32c import crc32c

NOW_MS: Final = 1_700_000_000_000


def varint(value: int) -> bytes:
    value = (value << 1) ^ (value >> 63)
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def batch(values: list[bytes], *, codec: int = 0, count: int | None = None, crc: int | None = None) -> bytes:
    """A magic-2 batch of records without keys; `count` and `crc` override the true ones."""
    records = b""
    for index, value in enumerate(values):
        record = b"\0" + varint(0) + varint(index) + varint(-1) + varint(len(value)) + value + varint(0)
        records += varint(len(record)) + record
    number = len(values) if count is None else count
    body = struct.pack(">hiqqqhii", codec, number - 1, NOW_MS, NOW_MS, -1, -1, -1, number) + records
    return struct.pack(">qiibI", 0, len(body) + 9, -1, 2, crc32c(body) if crc is None else crc) + body


def request(
    key: int, version: int, body: bytes, correlation_id: int = 7, client_id: bytes = b"test"
) -> bytes:
    """A frame with a header of version 1: for versions that are not flexible."""
    head = struct.pack(">hhih", key, version, correlation_id, len(client_id)) + client_id
    return struct.pack(">i", len(head) + len(body)) + head + body


def from_client(frame: bytes, client_id: bytes | None) -> bytes:
    """The same request with another client id."""
    (size,) = struct.unpack_from(">h", frame, 12)
    given = struct.pack(">h", -1) if client_id is None else struct.pack(">h", len(client_id)) + client_id
    changed = frame[4:12] + given + frame[14 + max(size, 0) :]
    return struct.pack(">i", len(changed)) + changed


def text(value: str) -> bytes:
    return struct.pack(">h", len(value)) + value.encode()


def produce(
    topic: str, records: bytes, *, partition: int = 0, acks: int = 1, correlation_id: int = 7
) -> bytes:
    """Produce v7."""
    body = struct.pack(">hhii", -1, acks, 5000, 1) + text(topic)
    body += struct.pack(">iii", 1, partition, len(records)) + records
    return request(0, 7, body, correlation_id)


def fetch(
    topic: str, offset: int, *, max_wait_ms: int = 0, min_bytes: int = 1, correlation_id: int = 7
) -> bytes:
    """Fetch v4 of partition 0."""
    body = struct.pack(">iiiib", -1, max_wait_ms, min_bytes, 1 << 24, 0)
    body += struct.pack(">i", 1) + text(topic) + struct.pack(">iiqi", 1, 0, offset, 1 << 20)
    return request(1, 4, body, correlation_id)


def api_versions(version: int = 0, correlation_id: int = 7) -> bytes:
    return request(18, version, b"", correlation_id)


def answers(data: bytes) -> list[tuple[int, bytes]]:
    """(correlation id, body) of each whole answer."""
    found = []
    while data:
        size, correlation_id = struct.unpack_from(">ii", data)
        assert len(data) >= 4 + size, "an answer is cut off"
        found.append((correlation_id, data[8 : 4 + size]))
        data = data[4 + size :]
    return found


def produced(body: bytes, topic: str) -> tuple[int, int]:
    """(error code, base offset) of a Produce v7 answer for one partition."""
    at = 4 + 2 + len(topic) + 4 + 4
    return struct.unpack_from(">hq", body, at)


def fetched(body: bytes, topic: str) -> tuple[int, int, bytes]:
    """(error code, high watermark, records) of a Fetch v4 answer for one partition."""
    at = 4 + 4 + 2 + len(topic) + 4 + 4
    error, high_watermark, _, aborted = struct.unpack_from(">hqqi", body, at)
    at += 22 + max(aborted, 0) * 16
    (size,) = struct.unpack_from(">i", body, at)
    return error, high_watermark, body[at + 4 : at + 4 + max(size, 0)]
