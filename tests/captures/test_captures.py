"""Captures of what a real client says and hears, read by Wireshark's dissector and by our own."""

from __future__ import annotations

import io
import logging
from pathlib import Path
from typing import Literal

import pytest
from confluent_kafka import Consumer, Producer
from hypothesis import example, given
from hypothesis import strategies as st

from mockbroker.captures import Message, messages
from mockbroker.protocol.capture_files import CaptureError, read
from mockbroker.protocol.pcapng import Segment, Writer
from tests import needs

from ..driving.processes import finished, line_of, mockbroker_process, started

QUIET = {"logger": logging.Logger("quiet", logging.CRITICAL)}
LIMIT_S = 60.0
BIG = b"x" * 200_000


@pytest.fixture(params=["2.4", "4.4"])
def captured(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str, str]:
    """A capture of a record that was produced and consumed, the brokers' addresses, and the release."""
    path = tmp_path / "wire.pcapng"
    options = ("--kafka", request.param, "-q", "--port", "0", "--topic", "t")
    server = started("capture", str(path), *options, stderr=None)
    bootstrap = line_of(server)
    producer = Producer({"bootstrap.servers": bootstrap, **QUIET})
    producer.produce("t", BIG)
    assert producer.flush(LIMIT_S) == 0
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "g", "auto.offset.reset": "earliest", **QUIET}
    )
    consumer.subscribe(["t"])
    message = consumer.poll(LIMIT_S)
    assert message is not None
    assert message.value() == BIG
    consumer.close()
    server.terminate()
    assert server.wait(LIMIT_S) == 0
    server.communicate()
    return path, bootstrap, request.param


def decoded(path: Path) -> list[Message]:
    with path.open("rb") as file:
        return list(messages(read(file)))


def test_every_message_is_read(captured: tuple[Path, str, str]) -> None:
    path, *_ = captured
    found = decoded(path)
    assert not [str(each) for each in found if "unreadable" in str(each.body)]
    assert {"ApiVersions", "Metadata", "Produce", "JoinGroup", "Fetch"} <= {each.api for each in found}
    produced = [each for each in found if each.api == "Produce"]
    assert [each.is_request for each in produced] == [True, False]
    (partition,) = produced[0].body["topic_data"][0]["partition_data"]
    assert [each["records"] for each in partition["records"]] == [1]


@pytest.mark.needs("tshark")
def test_wireshark_reads_it(captured: tuple[Path, str, str]) -> None:
    """Its dissector goes as far as about 2.4; what is newer it names, and calls some of it malformed."""
    path, bootstrap, kafka = captured
    ports = [f"tcp.port=={each.rpartition(':')[2]},kafka" for each in bootstrap.split(",")]
    command = [needs.need("tshark"), "-r", str(path), "-Y", "kafka", "-T", "fields", "-e", "_ws.col.Info"]
    info = finished([*command, *(word for each in ports for word in ("-d", each))], check=True).stdout
    assert kafka != "2.4" or "Malformed" not in info
    for api in ("ApiVersions", "Metadata", "Produce", "JoinGroup", "Fetch"):
        assert f"Kafka {api} v" in info, info


def test_the_command_prints_it(captured: tuple[Path, str, str]) -> None:
    path, *_ = captured
    done = mockbroker_process("capture", "--decode", str(path), "--api", "produce", check=True)
    lines = done.stdout.splitlines()
    assert [" Produce v" in line for line in lines] == [True, True]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", None),
        (b"\n", "1 bytes are not a block"),
        (b"nonsense" * 9, "not a pcapng"),
        ("cut", "cut short"),
    ],
)
def test_files_that_are_none(tmp_path: Path, content: bytes | str, message: str | None) -> None:
    whole = io.BytesIO()
    Writer(whole)
    data = whole.getvalue()[:-3] if isinstance(content, str) else content
    if message is None:
        assert list(read(io.BytesIO(data))) == []
        return
    with pytest.raises(CaptureError, match=message):
        list(read(io.BytesIO(data)))


def segments_of(version: Literal[4, 6]) -> st.SearchStrategy[Segment]:
    address = st.tuples(st.ip_addresses(v=version).map(str), st.integers(0, 65535))
    return st.builds(
        Segment,
        time_us=st.integers(0, 1 << 60),
        source=address,
        target=address,
        sequence=st.integers(0, (1 << 32) - 1),
        acknowledged=st.integers(0, (1 << 32) - 1),
        flags=st.integers(0, 255),
        payload=st.binary(max_size=300),
    )


@given(st.lists(segments_of(4) | segments_of(6), max_size=5))
def test_what_is_written_is_read(written: list[Segment]) -> None:
    file = io.BytesIO()
    writer = Writer(file)
    for each in written:
        writer.write(each)
    file.seek(0)
    assert list(read(file)) == written


def spoken(*frames: tuple[bool, bytes]) -> list[Message]:
    """What is decoded of one connection; `frames` are the client's or not, with their sizes."""
    client, broker = ("127.0.0.1", 40000), ("127.0.0.1", 9092)
    sequences = {True: 1, False: 1}
    found = []
    for asking, frame in frames:
        ends = (client, broker) if asking else (broker, client)
        found.append(Segment(0, *ends, sequences[asking], 0, 0, frame))
        sequences[asking] += len(frame)
    return list(messages(found))


METADATA = bytes.fromhex("00000014 0003 0009 00000001 0001 78 00 00 000000 00000000")


def test_sequence_numbers_begin_again_after_the_last() -> None:
    ends = ("127.0.0.1", 40000), ("127.0.0.1", 9092)
    last = (1 << 32) - 1
    first, rest = METADATA[:10], METADATA[10:]
    found = [Segment(0, *ends, last - 9, 0, 0, first), Segment(1, *ends, 0, 0, 0, rest)]
    found += [Segment(2, *ends, len(rest), 0, 0, METADATA)]
    assert [(each.time_us, each.api) for each in messages(found)] == [(1, "Metadata"), (2, "Metadata")]


@pytest.mark.parametrize("size", ["ffffffff07", "ffffffff0f", "8080808008"])
def test_an_array_of_any_length_is_unreadable_not_the_end(size: str) -> None:
    ask = bytes.fromhex("00000011 0003 0009 00000001 0001 78 00") + bytes.fromhex(size)
    answer = bytes.fromhex("0000000e 00000001 00 00000000") + bytes.fromhex(size)
    found = spoken((True, ask), (False, answer))
    assert ["unreadable" in str(each.body) for each in found] == [True, True]


@pytest.mark.parametrize("asking", [True, False])
@pytest.mark.parametrize("size", [-(2**31), -4, -1, 0, 3])
def test_a_frame_of_no_size_ends_its_half_with_one_line(asking: bool, size: int) -> None:
    wrong = size.to_bytes(4, "big", signed=True)
    found = spoken((True, METADATA), (asking, wrong * 3), (asking, METADATA), (not asking, METADATA))
    bad = [each for each in found if "unreadable: a frame of" in str(each.body)]
    assert [(each.is_request, each.body) for each in bad] == [
        (asking, f"unreadable: a frame of {size} bytes, and what follows it")
    ]


@example([(True, b"\0\3\x80\0" + bytes(6))], True)  # a version below 0
@given(frames=st.lists(st.tuples(st.booleans(), st.binary(max_size=60)), max_size=4), framed=st.booleans())
def test_any_bytes_are_decoded_or_unreadable(frames: list[tuple[bool, bytes]], framed: bool) -> None:
    if framed:
        frames = [(asking, len(data).to_bytes(4, "big") + data) for asking, data in frames]
    for each in spoken((True, METADATA), *frames):
        assert str(each)
