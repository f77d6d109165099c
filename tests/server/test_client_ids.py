"""Client ids of every form, changing between the requests of one connection, also within one write."""

import random
import struct

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mockbroker.protocol.headers import parse_header
from mockbroker.protocol.primitives import write_uvarint

from ..driving import wire
from ..driving.connections import ConnectionDriver

FORMS: dict[str, tuple[int, bytes, str | None]] = {
    "null": (-1, b"", None),
    "-2": (-2, b"", None),
    "most negative": (-(1 << 15), b"", None),
    "empty": (0, b"", ""),
    "a": (1, b"a", "a"),
    "b": (1, b"b", "b"),
    "umlaut": (2, "ä".encode(), "ä"),
    "not UTF-8": (2, b"\xff\xfe", "��"),
    "control characters": (3, b"\r\n\0", "\r\n\0"),
    "long": (5000, b"c" * 5000, "c" * 5000),
}
"""Size on the wire, bytes, and what Kafka takes it for."""


def join(form: str, group: int, flexible: bool) -> bytes:
    """JoinGroup v4 or v6, answered with a member id that begins with the client id (KIP-394)."""
    size, client_id, _ = FORMS[form]
    if flexible:
        body = b"\0" + compact(f"g{group}") + struct.pack(">ii", 6000, 6000) + b"\1\0" + compact("consumer")
        body += b"\2" + compact("range") + b"\1\0\0"
    else:
        body = wire.text(f"g{group}") + struct.pack(">ii", 6000, 6000) + wire.text("") + wire.text("consumer")
        body += struct.pack(">i", 1) + wire.text("range") + struct.pack(">i", 0)
    frame = struct.pack(">hhih", 11, 6 if flexible else 4, group, size) + client_id + body
    return struct.pack(">i", len(frame)) + frame


def compact(value: str) -> bytes:
    return bytes([len(value) + 1]) + value.encode()


@given(
    requests=st.lists(st.tuples(st.sampled_from(list(FORMS)), st.booleans()), min_size=1, max_size=8),
    writes=st.randoms(use_true_random=False),
)
@example(requests=[("null", False), ("null", False)], writes=random.Random(0))
@example(requests=[("-2", True)], writes=random.Random(0))
@example(requests=[("null", True), ("a", False), ("null", True), ("-2", False)], writes=random.Random(0))
def test_every_request_is_read_with_the_client_id_it_has(
    requests: list[tuple[str, bool]], writes: random.Random
) -> None:
    driver = ConnectionDriver()
    connection = driver.connect()
    data = b"".join(join(form, i, flexible) for i, (form, flexible) in enumerate(requests))
    answers = []
    while data:
        size = writes.randint(1, len(data))
        answers += driver.exchange(connection, data[:size])
        data = data[size:]
    assert not driver.heard.refusals
    assert [correlation_id for correlation_id, _ in answers] == list(range(len(requests)))
    for (form, flexible), (_, body) in zip(requests, answers, strict=True):
        # The member id: the client id, which null is empty as, a dash and a UUID.
        start = f"{FORMS[form][2] or ''}-".encode()
        length = bytearray()
        if flexible:
            write_uvarint(length, len(start) + 37)
        else:
            length += struct.pack(">h", len(start) + 36)
        assert bytes(length) + start in body


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"a\xff", "a�"),
        (b"\xe4\xb8", "�"),
        (b"\xf0\x9f\x98x", "�x"),
        (b"\xc0\x80", "��"),
        (b"\xed\xa0\x80", "�"),
        (b"\xed\xa0A", "�A"),
        (b"\xed\xa0\x80\xed\xb0\x80", "��"),
        (b"\xf4\x90\x80\x80", "����"),
    ],
)
def test_what_is_not_utf8_is_replaced_as_java_does(data: bytes, text: str) -> None:
    """As `new String(bytes, UTF_8)` of Java 17 answered."""
    frame = struct.pack(">hhih", 3, 1, 7, len(data)) + data
    assert parse_header(frame).client_id == text
    assert parse_header(memoryview(frame)).client_id == text
