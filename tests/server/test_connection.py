"""Bytes in, bytes out, without a socket: framing, order, parking, and input that no broker would answer."""

import itertools
import random
import struct
import tracemalloc

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mockbroker.protocol.headers import MAX_FRAME_BYTES
from mockbroker.server.frames import LEAST_STORE_BYTES, UNSENT_BYTES
from mockbroker.server.slices import Slice

from ..driving import wire
from ..driving.connections import ConnectionDriver, answered
from ..properties import examples


@pytest.fixture
def driver() -> ConnectionDriver:
    return ConnectionDriver()


class Steps:
    """A clock that goes on by 1 s whenever one of the looks at it that are given is taken."""

    def __init__(self, looks: list[bool]) -> None:
        self._looks = itertools.cycle(looks or [False])
        self._now = 0.0

    def __call__(self) -> float:
        self._now += next(self._looks)
        return self._now


CLIENT_IDS = [b"test", b"", None, b"another", "für".encode()]


@given(
    cuts=st.lists(st.integers(0, 900), max_size=12),
    looks=st.lists(st.booleans(), max_size=7),
    client_ids=st.lists(st.sampled_from(CLIENT_IDS), min_size=5, max_size=5),
)
@settings(max_examples=examples(300))
def test_requests_cut_anywhere_and_answered_in_slices_are_answered_the_same(
    cuts: list[int], looks: list[bool], client_ids: list[bytes | None]
) -> None:
    driver = ConnectionDriver()
    frames = [wire.produce("t", wire.batch([b"x" * 40] * (i + 1)), correlation_id=i) for i in range(4)]
    frames.append(wire.fetch("t", 0, correlation_id=4))
    data = b"".join(wire.from_client(*each) for each in zip(frames, client_ids, strict=True))
    connection = driver.connect()
    connection.slice = Slice(Steps(looks))
    found = []
    ends = sorted({min(cut, len(data)) for cut in cuts} | {len(data)})
    for start, end in zip([0, *ends], ends, strict=False):
        connection.slice.end = connection.slice.clock() + 1
        found += driver.exchange(connection, data[start:end])
    while connection.behind:
        connection.slice.end = connection.slice.clock() + 1
        connection.resume()
        found += answered(connection)
    assert [correlation_id for correlation_id, _ in found] == [0, 1, 2, 3, 4]
    assert [wire.produced(body, "t") for _, body in found[:4]] == [(0, 0), (0, 1), (0, 3), (0, 6)]
    assert wire.fetched(found[4][1], "t")[1] == 10


def test_a_slice_ends_between_two_requests(driver: ConnectionDriver) -> None:
    connection = driver.connect()
    connection.slice = Slice(itertools.count().__next__)
    connection.slice.end = 3
    first = driver.exchange(connection, b"".join(wire.api_versions(correlation_id=i) for i in range(10)))
    assert [correlation_id for correlation_id, _ in first] == [0, 1, 2, 3]
    connection.slice.end = 0
    connection.resume()
    assert [correlation_id for correlation_id, _ in answered(connection)] == [4]
    assert connection.behind


@pytest.mark.parametrize("size", [5000, 100_000, 3_000_000, MAX_FRAME_BYTES])
def test_as_much_is_reserved_for_a_frame_as_comes(driver: ConnectionDriver, size: int) -> None:
    connection = driver.connect()
    driver.exchange(connection, struct.pack(">i", size))
    arrived = 4
    for part in (0, 1, 10, 1000, 20_000, 60_000, 150_000):
        while part and connection.target is not None:
            room = len(connection.target)
            assert room <= max(LEAST_STORE_BYTES, 4 * arrived)
            read = min(part, room)
            connection.filled(read)
            part, arrived = part - read, arrived + read
    assert arrived == min(4 + size, 231_015)


def test_connections_that_announce_large_frames_take_no_memory(driver: ConnectionDriver) -> None:
    connections = [driver.connect() for _ in range(60)]
    tracemalloc.start()
    try:
        for connection in connections:
            driver.exchange(connection, struct.pack(">i", MAX_FRAME_BYTES))
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 60 * 2 * LEAST_STORE_BYTES


def test_frames_as_large_as_one_before_are_read_in_one_piece(driver: ConnectionDriver) -> None:
    connection = driver.connect()
    frame = wire.produce("t", wire.batch([b"x" * 900_000]))
    rooms = []
    for offset in range(2):
        connection.receive(memoryview(frame[:1000]))
        at = 1000
        while connection.target is not None:
            room = connection.target
            rooms.append(len(room))
            room[:] = frame[at : at + len(room)]
            at += len(room)
            connection.filled(len(room))
        assert [wire.produced(body, "t") for _, body in answered(connection)] == [(0, offset)]
    assert len(rooms) > 2
    assert rooms[-1] == len(frame) - 1000


def test_what_waits_is_not_copied_for_each_slice(driver: ConnectionDriver) -> None:
    connection = driver.connect()
    connection.slice = Slice(lambda: 0.0)
    requests = b"".join(wire.api_versions(correlation_id=i) for i in range(10_000))
    driver.exchange(connection, wire.fetch("t", 0, max_wait_ms=500))
    for start in range(0, len(requests), 1000):
        driver.exchange(connection, requests[start : start + 1000])
    driver.advance(500)
    # What the first request of its kind loads is none of a slice's.
    connection.slice.end = 0
    connection.resume()
    assert [found for found, _ in answered(connection)][-1] == 0
    tracemalloc.start()
    try:
        for correlation_id in range(1, 100):
            connection.slice.end = 0
            connection.resume()
            assert [found for found, _ in answered(connection)] == [correlation_id]
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < len(requests) / 2


def test_a_client_that_does_not_read_has_little_unsent(driver: ConnectionDriver) -> None:
    for number in range(200):
        driver.cluster.create_topic(f"topic-{number}", [[1]])
    connection = driver.connect()
    ask = wire.request(3, 1, struct.pack(">i", -1))
    connection.receive(memoryview(ask * 300))
    [(_, answer)] = driver.exchange(driver.connect(), ask)
    assert UNSENT_BYTES < connection.out_bytes < UNSENT_BYTES + 2 * len(answer)
    count = len(answered(connection))
    while connection.behind:
        connection.resume()
        assert connection.out_bytes < UNSENT_BYTES + 2 * len(answer)
        count += len(answered(connection))
    assert count == 300


def test_a_parked_fetch_holds_back_what_follows_and_is_woken_by_a_produce(driver: ConnectionDriver) -> None:
    waiting, other = driver.connect(), driver.connect()
    assert (
        driver.exchange(waiting, wire.fetch("t", 0, max_wait_ms=500) + wire.api_versions(correlation_id=8))
        == []
    )
    driver.exchange(other, wire.produce("t", wire.batch([b"x"])))
    [(first, body)] = answered(waiting)
    assert (first, wire.fetched(body, "t")[1]) == (7, 1)
    waiting.resume()
    assert [correlation_id for correlation_id, _ in answered(waiting)] == [8]


def test_a_parked_fetch_is_answered_when_its_time_is_over(driver: ConnectionDriver) -> None:
    connection = driver.connect()
    assert driver.exchange(connection, wire.fetch("t", 0, max_wait_ms=500)) == []
    deadline = driver.cluster.next_deadline()
    assert deadline == driver.cluster.now_ms + 500
    driver.cluster.advance(deadline - 1)
    assert answered(connection) == []
    driver.cluster.advance(deadline)
    [(_, body)] = answered(connection)
    assert wire.fetched(body, "t") == (0, 0, b"")


def test_an_unknown_version_of_api_versions_is_answered_in_v0_with_our_range(
    driver: ConnectionDriver,
) -> None:
    [(correlation_id, body)] = driver.exchange(driver.connect(), wire.request(18, 99, b"\0"))
    assert correlation_id == 7
    assert struct.unpack(">hihhh", body) == (35, 1, 18, 0, 5)


NO_REQUESTS = {
    "version": (wire.request(3, 99, b""), "api key 3 v99 is not served by Kafka 4.4"),
    "api": (wire.request(999, 0, b""), "api key 999 v0 is not served by Kafka 4.4"),
    "2 GB": (struct.pack(">i", 2**31 - 1), "a frame of 2147483647 bytes"),
    "negative": (struct.pack(">i", -1), "a frame of -1 bytes"),
    "short": (struct.pack(">i", 3) + b"abc", "3 bytes are shorter than a request header"),
    "truncated": (wire.request(2, 1, b"\xff"), "LIST_OFFSETS v1"),
    "cut records": (wire.produce("t", b"")[:-4] + struct.pack(">i", 500), "500 bytes announced"),
    "client id": (struct.pack(">ihhih", 12, 18, 0, 7, 500) + b"ab", "client id of 500 bytes"),
    "array of -2": (bytes.fromhex("00000011000300090000000100017800ffffffff0f"), "METADATA v9"),
    "array of 2**31 - 2": (
        bytes.fromhex("00000011000300090000000100017800ffffffff07"),
        "2147483646 entries announced",
    ),
    "array of 2**31 - 1": (
        wire.request(8, 2, b"\0\0\0\0\0\0\0\0" + b"\0" * 8 + b"\x7f\xff\xff\xff"),
        "2147483647 entries",
    ),
}


@pytest.mark.parametrize(("data", "reason"), NO_REQUESTS.values(), ids=NO_REQUESTS)
def test_what_is_no_request_closes_the_connection_with_one_line(
    driver: ConnectionDriver, data: bytes, reason: str
) -> None:
    connection = driver.connect()
    assert driver.exchange(connection, data) == []
    assert connection.wants_close
    assert [reason in heard for heard in driver.heard.refusals] == [True]
    assert not driver.heard.errors


@pytest.mark.parametrize(
    ("records", "error"),
    [
        (wire.batch([b"x"], crc=1), 2),
        (wire.batch([b"x"], count=2), 87),
        (wire.batch([b"x"] * 3, count=2), 87),
        (wire.batch([b"x"]) * 2, 87),
        (wire.batch([b"x"])[:-1], 87),
        (b"\0" * 80, 2),
        (b"", 87),
    ],
    ids=["crc", "fewer", "more", "two batches", "cut", "zeros", "none"],
)
def test_a_bad_batch_is_refused_and_the_next_is_taken(
    driver: ConnectionDriver, records: bytes, error: int
) -> None:
    connection = driver.connect()
    answers = driver.exchange(connection, wire.produce("t", records) + wire.produce("t", wire.batch([b"x"])))
    assert [wire.produced(body, "t") for _, body in answers] == [(error, -1), (0, 0)]


SEEDS = [
    wire.produce("t", wire.batch([b"hello", b"world"])),
    wire.fetch("t", 0),
    wire.api_versions(),
    wire.request(2, 1, struct.pack(">ii", -1, 1) + wire.text("t") + struct.pack(">iiq", 1, 0, -1)),
    wire.request(3, 1, struct.pack(">i", -1)),
    wire.request(23, 2, struct.pack(">i", 1) + wire.text("t") + struct.pack(">iiii", 1, 0, -1, 0)),
    wire.request(
        11, 0, wire.text("g") + struct.pack(">i", 6000) + wire.text("") + wire.text("consumer") + b"\0\0\0\0"
    ),
]


@st.composite
def broken(draw: st.DrawFn) -> bytes:
    """Random bytes, or a good request that was damaged."""
    if draw(st.integers(0, 3)) == 0:
        return draw(st.binary(min_size=1, max_size=64))
    data = bytearray(draw(st.sampled_from(SEEDS)))
    randomness = random.Random(draw(st.integers(0, 2**32)))
    for _ in range(draw(st.integers(1, 4))):
        match randomness.randrange(4):
            case 0:
                data[randomness.randrange(max(1, len(data)))] = randomness.randrange(256)
            case 1:
                at = randomness.randrange(4, max(5, len(data)))
                del data[at : at + randomness.randrange(1, 8)]
            case 2:
                at = randomness.randrange(4, max(5, len(data) + 1))
                data[at:at] = randomness.randbytes(randomness.randrange(1, 8))
            case 3:
                at = randomness.randrange(4, max(5, len(data) - 4))
                data[at : at + 4] = struct.pack(">i", randomness.choice((-1, -2, 2**31 - 1, -(2**31), 65536)))
    if randomness.randrange(2):
        data[:4] = struct.pack(">i", len(data) - 4)
    return bytes(data)


SHARED = ConnectionDriver()
WITNESS = SHARED.cluster.create_topic("witness", [[1]]).partitions[0]
"""Of a topic that no damaged request names, so that none can delete it."""


@given(data=broken())
@settings(max_examples=examples(3_000), suppress_health_check=list(HealthCheck))
def test_nothing_that_comes_in_breaks_the_server(data: bytes) -> None:
    connection = SHARED.connect()
    connection.receive(memoryview(data).toreadonly())
    assert not SHARED.heard.errors, SHARED.heard.errors
    before = WITNESS.log.end_offset
    [(_, body)] = SHARED.exchange(SHARED.connect(), wire.produce("witness", wire.batch([b"still here"])))
    assert wire.produced(body, "witness") == (0, before)
