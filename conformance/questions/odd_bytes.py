"""Bytes that no client of Kafka's writes, but a broker reads or refuses (`MessageDataGenerator.java`)."""

import struct
from typing import Any, Final

from ...rig.client import decode, encode
from ...rig.scene import CLOSED
from ..registry import Scene, Steps, about

metadata = about("metadata")
fetch = about("fetch")
offset_commit = about("offset_commit")
join_group = about("join_group")
describe_topic_partitions = about("describe_topic_partitions")

LENGTHS: Final = {
    "0": b"\0",
    "padded to five bytes": b"\x82\x80\x80\x80\x00",
    "bits above the 32nd": b"\x82\x80\x80\x80\x70",
    "six bytes": b"\x82\x80\x80\x80\x80\x00",
    "-1 of 32 bits": b"\xff\xff\xff\xff\x0f",
    "-2**31": b"\x80\x80\x80\x80\x08",
    "2**31 - 1": b"\xff\xff\xff\xff\x07",
    "one too many": b"\x7f",
}
"""Compact lengths, of what is one long."""
TEXTS: Final = {
    "not UTF-8": b"a\xff\xfe",
    "cut short": b"\xe4\xb8",
    "half a surrogate pair": b"\xed\xa0\x80",
    "overlong": b"\xc0\x80",
    "beyond Unicode": b"\xf4\x90\x80\x80",
    "NUL": b"a\0",
}
TAGS: Final = {
    "unknown": b"\1\x63\3abc",
    "two unknown": b"\2\x63\1a\x64\1b",
    "not in order": b"\2\x64\1a\x63\1b",
    "twice the same": b"\2\x63\1a\x63\1b",
    "tag of 32 bits": b"\1\xff\xff\xff\xff\x0f\1a",
    "empty": b"\1\x63\0",
    "size too large": b"\1\x63\x60abc",
    "size negative": b"\1\x63\xff\xff\xff\xff\x0fabc",
    "fewer than announced": b"\3\x63\1a",
    "a negative number": b"\xff\xff\xff\xff\x0f",
    "padded number": b"\x81\x00\x63\1a",
}


def _metadata(s: Scene, version: int, body: bytes) -> Any:
    """Topics as [name, error, whether operations are listed], or that the connection was closed."""
    answer = s.raw(3, version, body)
    if isinstance(answer, str):
        return answer
    found = decode("metadata", version, bytes(4) + answer)
    listed = [
        [each["name"], each["error_code"], each.get("topic_authorized_operations", 0) > 0]
        for each in found["topics"]
    ]
    # Null means all of them, whichever there are.
    return (
        listed
        if len(listed) < 3 and all("nosuch" in each[0] or each[1] != "NONE" for each in listed)
        else "all"
    )


def _flexible(
    name: bytes = b"\7nosuch",
    count: bytes = b"\2",
    topic_tags: bytes = b"\0",
    flags: bytes = bytes(3),
    tags: bytes = b"\0",
    header_tags: bytes = b"\0",
) -> bytes:
    """The part of a Metadata v9 request after the client id."""
    return header_tags + count + name + topic_tags + flags + tags


@metadata(at=[9])
def odd_lengths(s: Scene) -> Steps:
    for label, length in LENGTHS.items():
        yield f"array: {label}", _metadata(s, 9, _flexible(count=length))
        yield f"text: {label}", _metadata(s, 9, _flexible(name=length + b"n"))
    for size in (249, 32767, 32768):
        length = bytes([(size + 1) & 0x7F | 0x80, (size + 1) >> 7 & 0x7F | 0x80, (size + 1) >> 14])
        found = _metadata(s, 9, _flexible(name=length + b"n" * size))
        yield f"text of {size} bytes", found if found == CLOSED else [each[1:] for each in found]


@metadata(at=[4])
def odd_lengths_before_compact_ones(s: Scene) -> Steps:
    for count in (-1, -2, -(2**31), 2, 1000, 2**31 - 1):
        yield f"array of {count}", _metadata(s, 4, struct.pack(">ih", count, 6) + b"nosuch\0")
    for size in (-1, -2, -(2**15), 6, 7, 2**15 - 1):
        yield f"text of {size}", _metadata(s, 4, struct.pack(">ih", 1, size) + b"nosuch\0")


@metadata(at=[4, 9])
def odd_texts(s: Scene) -> Steps:
    for label, text in TEXTS.items():
        if s.version == 9:
            body = _flexible(name=bytes([len(text) + 1]) + text)
        else:
            body = struct.pack(">ih", 1, len(text)) + text + b"\0"
        yield label, _metadata(s, s.version, body)


@metadata(at=[9])
def odd_tags(s: Scene) -> Steps:
    for label, tags in TAGS.items():
        yield f"header: {label}", _metadata(s, 9, _flexible(header_tags=tags))
        yield f"topic: {label}", _metadata(s, 9, _flexible(topic_tags=tags))
        yield f"request: {label}", _metadata(s, 9, _flexible(tags=tags))


@metadata(at=[9])
def odd_booleans(s: Scene) -> Steps:
    for value in (0, 1, 2, 127, 128, 255):
        yield f"{value}", _metadata(s, 9, _flexible(flags=bytes([0, 0, value])))


@metadata(at=[4, 9])
def bytes_left_over(s: Scene) -> Steps:
    body = _flexible() if s.version == 9 else struct.pack(">ih", 1, 6) + b"nosuch\0"
    for rest in (b"\0", b"left", bytes(1000)):
        yield f"{len(rest)} bytes", _metadata(s, s.version, body + rest)
    yield "one missing", _metadata(s, s.version, body[:-1])


@metadata(at=[4])
def odd_client_ids(s: Scene) -> Steps:
    body = struct.pack(">ih", 1, 6) + b"nosuch\0"
    for label, (size, data) in {
        "null": (-1, b""),
        "-2": (-2, b""),
        "-2**15": (-(2**15), b""),
        "empty": (0, b""),
        "not UTF-8": (2, b"\xff\xfe"),
        "control characters": (3, b"\r\n\0"),
        "longer than the frame": (500, b"x"),
    }.items():
        client = s.new_client()
        frame = struct.pack(">hhih", 3, 4, 7, size) + data + body
        try:
            client.send_frame(frame)
            client.send_frame(frame)
            yield label, [client.read_frame()[:4].hex(), client.read_frame()[:4].hex()]
        except ConnectionError:
            yield label, CLOSED


@fetch(at=[12])
def odd_tagged_fields(s: Scene) -> Steps:
    """The cluster id is tag 0, and null by default."""
    body = encode("fetch", 12, {"max_wait": 0, "topics": []})[:-1]
    for label, tags in {
        "null": b"\1\0\1\0",
        "an empty text": b"\1\0\1\1",
        "text": b"\1\0\2\2x",
        "not UTF-8": b"\1\0\3\3\xff\xfe",
        "twice": b"\2\0\2\2x\0\2\2y",
        "behind an unknown one": b"\2\x63\1a\0\2\2x",
        "size too small": b"\1\0\0\2x",
        "size too large": b"\1\0\x60\2x",
        "size negative": b"\1\0\xff\xff\xff\xff\x0f\2x",
        "length too large": b"\1\0\2\x60x",
    }.items():
        answer = s.raw(1, 12, body + tags, flexible=True)
        yield (
            label,
            answer if isinstance(answer, str) else decode("fetch", 12, bytes(4) + answer)["error_code"],
        )


@fetch(at=[17])
def a_null_cluster_id(s: Scene) -> Steps:
    body = encode("fetch", 17, {"max_wait": 0, "topics": []})[:-1]
    answer = s.raw(1, 17, body + b"\1\0\1\0", flexible=True)
    yield "null", answer if isinstance(answer, str) else decode("fetch", 17, bytes(4) + answer)["error_code"]


@offset_commit(at=[2, 3, 4])
def odd_retention_times(s: Scene) -> Steps:
    for retention in (-1, -2, -(2**63), 2**63 - 1, 10**15, 0):
        body = struct.pack(">h", 6) + b"nobody" + struct.pack(">ihqi", -1, 0, retention, 0)
        answer = s.raw(8, s.version, body)
        yield f"{retention} ms", answer if isinstance(answer, str) else len(answer)


@describe_topic_partitions()
def odd_cursors(s: Scene) -> Steps:
    """A negative byte stands for a null cursor."""
    for value in (-128, -2, -1, 0, 1, 2, 127):
        cursor = b"" if value < 0 else b"\2a" + bytes(5)
        body = b"\2\7nosuch\0" + struct.pack(">ib", 10, value) + cursor + b"\0"
        answer = s.raw(75, 0, body, flexible=True)
        if isinstance(answer, bytes):
            found = decode("describe_topic_partitions", 0, bytes(4) + answer)
            answer = [each["error_code"] for each in found["topics"]]  # type: ignore[assignment]
        yield f"{value}", answer


@join_group(at=[4, 6])
def odd_protocols(s: Scene) -> Steps:
    """The protocol metadata is a bytes field that can't be null."""
    for label, compact, size in (
        ("empty", b"\1", 0),
        ("null", b"\0", -1),
        ("-2", b"\xff\xff\xff\xff\x0f", -2),
        ("too long", b"\x60", 500),
        ("largest", b"\xff\xff\xff\xff\x07", 2**31 - 1),
    ):
        times = struct.pack(">ii", 6000, 6000)
        if s.version == 6:
            body = b"\2g" + times + b"\1\0\x09consumer\2\6range" + compact + b"\0\0"
        else:
            body = b"\0\1g" + times + b"\0\0\0\x08consumer\0\0\0\1\0\5range" + struct.pack(">i", size)
        answer = s.raw(11, s.version, body, flexible=s.version == 6)
        if isinstance(answer, bytes):
            answer = decode("join_group", s.version, bytes(4) + answer)["error_code"]
        yield label, answer
