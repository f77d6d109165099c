"""What tcpdump writes: pcap and pcapng, with every link layer, are read as our own captures are."""

import io
import struct

import pytest

from mockbroker.protocol.capture_files import CaptureError, read
from mockbroker.protocol.pcapng import Segment, Writer

SEGMENTS = [
    Segment(1_700_000_000_000_123, ("10.0.0.9", 50_001), ("10.0.0.1", 9092), 7, 9, 24, b"request"),
    Segment(1_700_000_000_000_456, ("::1", 9092), ("::1", 50_001), 9, 14, 24, b"answer"),
]
ETHERNET = b"\2\0\0\0\0\1" + b"\2\0\0\0\0\2"
LINKS = {
    "ethernet": (1, {4: ETHERNET + b"\x08\0", 6: ETHERNET + b"\x86\xdd"}),
    "vlan": (1, {4: ETHERNET + b"\x81\0\0\7\x08\0", 6: ETHERNET + b"\x81\0\0\7\x86\xdd"}),
    "any": (113, {4: bytes(14) + b"\x08\0", 6: bytes(14) + b"\x86\xdd"}),
    "any, version 2": (276, {4: b"\x08\0" + bytes(18), 6: b"\x86\xdd" + bytes(18)}),
    "loopback": (0, {4: b"\2\0\0\0", 6: b"\x1e\0\0\0"}),
    "raw": (101, {4: b"", 6: b""}),
}


def packets() -> list[bytes]:
    """The IP packets of the segments, as our own captures have them."""
    file = io.BytesIO()
    writer = Writer(file)
    found = []
    for each in SEGMENTS:
        start = file.tell()
        writer.write(each)
        block = file.getvalue()[start:]
        (size,) = struct.unpack_from("<I", block, 20)
        found.append(block[28 : 28 + size])
    return found


def pcap(link: str, order: str, per_second: int, length: int | None = None) -> bytes:
    number, heads = LINKS[link]
    magic = 0xA1B2C3D4 if per_second == 1_000_000 else 0xA1B23C4D
    out = struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, 1 << 18, number)
    for segment, packet in zip(SEGMENTS, packets(), strict=True):
        seconds, micros = divmod(segment.time_us, 1_000_000)
        data = heads[packet[0] >> 4] + packet
        fraction = micros * per_second // 1_000_000
        out += struct.pack(f"{order}IIII", seconds, fraction, len(data), len(data)) + data
    return out


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("per_second", [1_000_000, 1_000_000_000])
def test_pcap(link: str, order: str, per_second: int) -> None:
    assert list(read(io.BytesIO(pcap(link, order, per_second)))) == SEGMENTS


def test_pcapng_in_nanoseconds_with_ethernet() -> None:
    def block(kind: int, body: bytes) -> bytes:
        body += bytes(-len(body) % 4)
        size = struct.pack("<I", len(body) + 12)
        return struct.pack("<I", kind) + size + body + size

    resolution = struct.pack("<HHBxxx", 9, 1, 9) + bytes(4)
    out = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    out += block(1, struct.pack("<HHI", 1, 0, 0) + resolution)
    for segment, packet in zip(SEGMENTS, packets(), strict=True):
        data = LINKS["ethernet"][1][packet[0] >> 4] + packet
        time = segment.time_us * 1000
        head = struct.pack("<IIIII", 0, time >> 32, time & 0xFFFFFFFF, len(data), len(data))
        out += block(6, head + data)
    assert list(read(io.BytesIO(out))) == SEGMENTS


def test_what_cant_be_read_says_what_to_do() -> None:
    whole = pcap("ethernet", "<", 1_000_000)
    with pytest.raises(CaptureError, match="a packet of 61 bytes is cut short"):
        list(read(io.BytesIO(whole[:60])))
    with pytest.raises(CaptureError, match="link type 105 can't be read: capture with `tcpdump -i any`"):
        list(read(io.BytesIO(whole[:20] + struct.pack("<I", 105))))
    with pytest.raises(CaptureError, match="not a pcapng file"):
        list(read(io.BytesIO(b"\0" * 40)))
