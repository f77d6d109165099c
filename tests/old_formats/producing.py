"""Produce v0 to v2."""

import struct
import zlib
from typing import Final

from mockbroker.rig.batches import (
    GZIP,
    LZ4,
    NONE,
    OLD,
    SNAPPY,
    TRANSACTIONAL,
    ZSTD,
    Record,
    batch,
    message_set,
)
from mockbroker.rig.stories import Steps

from .stage import OldStage

CODECS: Final = {"none": NONE, "gzip": GZIP, "snappy": SNAPPY, "lz4": LZ4}
THREE: Final = [Record(b"a", b"k", OLD), Record(b"bb", None, OLD + 2), Record(None, b"l", OLD + 1)]


def message(
    value: bytes | None, magic: int = 1, attributes: int = 0, offset: int = 0, time: int = OLD
) -> bytes:
    """One message without a key."""
    body = struct.pack(">bb", magic, attributes) + (struct.pack(">q", time) if magic else b"")
    body += struct.pack(">ii", -1, -1 if value is None else len(value)) + (value or b"")
    return struct.pack(">qiI", offset, len(body) + 4, zlib.crc32(body)) + body


def formats(s: OldStage) -> Steps:
    """Each format and codec in each version, and what becomes of it."""
    for version in (0, 1, 2):
        for magic in (0, 1):
            for name, codec in CODECS.items():
                topic = f"f{version}{magic}{name}"
                s.create(topic)
                label = f"v{version}, magic {magic}, {name}"
                yield label, s.produce(version, topic, message_set(THREE, magic=magic, codec=codec))
                yield f"{label}: kept", s.kept(topic)


def newer(s: OldStage) -> Steps:
    """Batches of magic 2 in the old versions."""
    s.create("newer")
    for version in (0, 1, 2):
        for name, codec in {**CODECS, **({"zstd": ZSTD} if s.knows_zstd else {})}.items():
            yield f"v{version}, {name}", s.produce(version, "newer", batch(2, codec=codec))
    yield "two batches", s.produce(2, "newer", batch(1) + batch(1))
    yield "a batch, then a message", s.produce(2, "newer", batch(1) + message(b"v"))
    yield "a message, then a batch", s.produce(2, "newer", message(b"v") + batch(1))
    yield "idempotent", s.produce(2, "newer", batch(1, producer_id=5, producer_epoch=0, sequence=0))
    one = batch(1, producer_id=5, producer_epoch=0, sequence=1, attributes=TRANSACTIONAL)
    yield "transactional", s.produce(2, "newer", one)
    yield "magic 3", s.produce(2, "newer", batch(1, magic=3))
    yield "kept", s.kept("newer")


def unnamed(s: OldStage) -> Steps:
    """Transactional batches without a transactional id in the request."""
    s.create("unnamed")
    for version in range(3, s.newest("produce", 7) + 1):
        one = batch(1, producer_id=5, producer_epoch=0, sequence=version - 3, attributes=TRANSACTIONAL)
        yield f"v{version}", s.produce(version, "unnamed", one)
    yield "kept", s.kept("unnamed")
    yield "end", s.listed("unnamed", -1)


def odd(s: OldStage) -> Steps:
    """Sets that are refused, or nearly."""
    s.create("odd")
    for magic in (0, 1):
        sets = {
            "no message": b"",
            "a wrong CRC": message_set(THREE, magic=magic, bad_crc=True),
            "a wrong CRC in a compressed one": message_set(THREE, magic=magic, codec=GZIP, bad_crc=True),
            "a wrong CRC within a compressed one": _around(
                message_set(THREE, magic=magic, bad_crc=True), magic
            ),
            "cut": message_set(THREE, magic=magic)[:-3],
            "the first is cut": message_set(THREE[:1], magic=magic)[:-3],
            "too short": struct.pack(">qi", 0, 13) + b"\0" * 13,
            "two compressed ones": message_set(THREE, magic=magic, codec=GZIP) * 2,
            "a compressed one, then another": message_set(THREE, magic=magic, codec=GZIP)
            + message_set(THREE[:1], magic=magic),
            "the other magic, then this one": message_set(THREE[:1], magic=1 - magic)
            + message_set(THREE[:1], magic=magic),
            "the other magic within": _around(message_set(THREE, magic=1 - magic), magic),
            "a compressed one within": _around(message_set(THREE, magic=magic, codec=GZIP), magic),
            "a batch within": _around(batch(1), magic),
            "nothing within": _around(b"", magic),
            "cut within": _around(message_set(THREE, magic=magic)[:-3], magic),
            "too short within": _around(struct.pack(">qi", 0, 13) + b"\0" * 13, magic),
            "no value within": message(None, magic, GZIP),
            "not compressed": message(b"plain", magic, GZIP),
            "zstd": message(b"plain", magic, ZSTD),
            "codec 5": message(b"plain", magic, 5),
            "a wrapper at offset 0": _around(message_set(THREE, magic=magic), magic, offset=0),
            "a wrapper at offset 1": _around(message_set(THREE, magic=magic), magic, offset=1),
            "a wrapper at offset 9": _around(message_set(THREE, magic=magic), magic, offset=9),
            "a time of the broker": message(b"v", magic, 8),
            "a time of the broker, unknown": message(b"v", magic, 8, time=-1),
            "a wrapper's time of the broker": _around(message_set(THREE, magic=magic), magic, attributes=8),
            "a time of -2": message(b"v", magic, time=-2),
            "a time of -1": message(b"v", magic, time=-1),
            "a later time": message(b"v", magic, time=4_000_000_000_000),
            "any offset": message(b"v", magic, offset=77),
        }
        for label, data in sets.items():
            yield f"magic {magic}, {label}", s.produce(2, "odd", data)
    yield "null", s.produce(2, "odd", b"", index=7)
    for acks in (1, 2):
        yield f"acks {acks}", s.produce(1, "odd", message(b"v"), acks)
    yield "no such topic", s.produce(0, "no-such-topic", message(b"v"), index=3)
    yield "kept", s.kept("odd")


def several(s: OldStage) -> Steps:
    """Sets with batches of magic 2, and what is kept of them."""
    sets = {
        "batches": batch(1) + batch(2),
        "a batch, then a message": batch(2) + message(b"v"),
        "a message, then a batch": message(b"v", 0) + batch(2),
        "compressed batches": batch(1, codec=GZIP) + batch(2, codec=GZIP),
        "a compressed batch, then a message": batch(2, codec=GZIP) + message(b"v"),
        "a batch with headers, then a message": batch([Record(b"v", headers=(("h", b"1"),))]) + message(b"w"),
        "a batch, then a wrong CRC": batch(1) + batch(1, bad_crc=True),
        "a batch, then a cut one": batch(1) + batch(1)[:-3],
    }
    for label, data in sets.items():
        topic = f"several-{list(sets).index(label)}"
        s.create(topic)
        yield label, s.produce(2, topic, data)
        yield "kept", s.kept(topic)


def contradicting(s: OldStage) -> Steps:
    """Messages whose CRC is right, and whose lengths contradict each other."""
    for magic in (0, 1):
        sets = {
            "the key ends behind it": _of_fields(magic, 9, b"", -1, b""),
            "the key leaves no room for a value": _of_fields(magic, 4, b"", -1, b""),
            "the value ends behind it": _of_fields(magic, -1, b"", 9, b"v"),
            "the value ends before it": _of_fields(magic, 1, b"k", 1, b"value"),
            "a key of -2": _of_fields(magic, -2, b"", 1, b"v"),
            "a value of -2": _of_fields(magic, 1, b"k", -2, b""),
            "a value of -2, and more": _of_fields(magic, -1, b"", -2, b"v"),
            "no value": _of_fields(magic, -1, b"", None, b""),
        }
        for label, data in sets.items():
            for where, sent in (("", data), (", within", _around(data, magic, 0))):
                topic = f"contradicting-{magic}-{list(sets).index(label)}{'-within' if where else ''}"
                s.create(topic)
                yield f"magic {magic}, {label}{where}", s.produce(2, topic, sent)
                yield "kept", s.kept(topic)


def _of_fields(magic: int, key_size: int, key: bytes, value_size: int | None, value: bytes) -> bytes:
    """A message with these sizes, whatever follows them."""
    body = struct.pack(">bb", magic, 0) + (struct.pack(">q", OLD) if magic else b"")
    body += struct.pack(">i", key_size) + key
    body += b"" if value_size is None else struct.pack(">i", value_size) + value
    return struct.pack(">qiI", 0, len(body) + 4, zlib.crc32(body)) + body


def _around(inner: bytes, magic: int, offset: int = 2, attributes: int = 0) -> bytes:
    packed = zlib.compressobj(wbits=31)
    value = packed.compress(inner) + packed.flush()
    return message(value, magic, GZIP | attributes, offset)


def configured(s: OldStage) -> Steps:
    """What the topic's configuration makes of messages."""
    topics = {
        "gzip": {"compression_type": "gzip"},
        "lz4": {"compression_type": "lz4"},
        "zstd": {"compression_type": "zstd"},
        "uncompressed": {"compression_type": "uncompressed"},
        "appended": {"message_timestamp_type": "LogAppendTime"},
        "compacted": {"cleanup_policy": "compact"},
        "small": {"max_message_bytes": "80"},
        "recent": {"message_timestamp_difference_max_ms": "1000"},
    }
    for name, configs in topics.items():
        if name == "zstd" and not s.knows_zstd:
            continue
        s.create(name, **configs)
        for magic in (0, 1):
            label = f"{name}, magic {magic}"
            yield label, s.produce(2, name, message_set(THREE, magic=magic))
            yield f"{label}, snappy", s.produce(2, name, message_set(THREE, magic=magic, codec=SNAPPY))
        yield f"{name}: kept", s.kept(name)
