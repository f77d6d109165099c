"""Packet captures (pcapng): TCP segments over IPv4 or IPv6 without a link layer, as Wireshark reads them.

Source: draft-ietf-opsawg-pcapng; link type 101 is LINKTYPE_RAW.
"""

import functools
import ipaddress
import struct
from collections.abc import Iterator
from typing import BinaryIO, Final, NamedTuple

from ..errors import MockBrokerError

_SECTION: Final = 0x0A0D0D0A
_INTERFACE: Final = 1
_PACKET: Final = 6
_ORDER: Final = 0x1A2B3C4D
_RAW: Final = 101
_TCP: Final = 6
_LOOPBACK: Final = ipaddress.IPv4Address("127.0.0.1")
_IP_HEADER: Final = struct.Struct(">BBHHHBBH4s4s")
_IPV6_HEADER: Final = struct.Struct(">IHBB16s16s")
_TCP_HEADER: Final = struct.Struct(">HHIIBBHHH")
MAX_PAYLOAD: Final = 65_000
"""What fits into one packet besides its headers."""

FIN, SYN, PUSH, ACK = 1, 2, 8, 16
Address = tuple[str, int]
"""IP address and port."""


class CaptureError(MockBrokerError, ValueError):
    """A file that is not a capture of this kind; the message names the offset."""


class Segment(NamedTuple):
    """One TCP segment. `time_us` is Unix time in microseconds."""

    time_us: int
    source: Address
    target: Address
    sequence: int
    acknowledged: int
    flags: int
    payload: bytes


class Writer:
    """Writes segments to a file, which it does not close."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._block(_SECTION, struct.pack("<IHHq", _ORDER, 1, 0, -1))
        self._block(_INTERFACE, struct.pack("<HHI", _RAW, 0, 0))

    def write(self, segment: Segment) -> None:
        packet = _packet(segment)
        head = struct.pack(
            "<IIIII", 0, segment.time_us >> 32, segment.time_us & 0xFFFFFFFF, len(packet), len(packet)
        )
        self._block(_PACKET, head + packet)

    def _block(self, kind: int, body: bytes) -> None:
        body += bytes(-len(body) % 4)
        size = struct.pack("<I", len(body) + 12)
        self._file.write(struct.pack("<I", kind) + size + body + size)


def read(file: BinaryIO) -> Iterator[Segment]:
    """The segments of a file that `Writer` wrote; other blocks and packets are skipped. CaptureError."""
    offset = 0
    while head := file.read(8):
        if len(head) < 8:
            raise CaptureError(f"offset {offset}: {len(head)} bytes are not a block")
        kind, size = struct.unpack("<II", head)
        if offset == 0 and kind != _SECTION:
            raise CaptureError("offset 0: not a pcapng file")
        body = file.read(size - 8) if 12 <= size < 1 << 28 else b""
        if len(body) != size - 8:
            raise CaptureError(f"offset {offset}: a block of {size} bytes is cut short")
        if offset == 0 and body[:4] != struct.pack("<I", _ORDER):
            raise CaptureError("offset 0: big-endian captures are not supported")
        if kind == _PACKET and (segment := _segment(body)):
            yield segment
        offset += size


def _packet(segment: Segment) -> bytes:
    source, target = (_ip(each[0]) for each in (segment.source, segment.target))
    size = _TCP_HEADER.size + len(segment.payload)
    if source.version == target.version == 6:
        head = _IPV6_HEADER.pack(6 << 28, size, _TCP, 64, source.packed, target.packed)
    else:
        size += _IP_HEADER.size
        addresses = (each.packed if each.version == 4 else _LOOPBACK.packed for each in (source, target))
        head = _IP_HEADER.pack(0x45, 0, size, 0, 0x4000, 64, _TCP, 0, *addresses)
        head = head[:10] + struct.pack(">H", _checksum(head)) + head[12:]
    tcp = _TCP_HEADER.pack(
        segment.source[1],
        segment.target[1],
        segment.sequence & 0xFFFFFFFF,
        segment.acknowledged & 0xFFFFFFFF,
        _TCP_HEADER.size // 4 << 4,
        segment.flags,
        65535,
        0,
        0,
    )
    return head + tcp + segment.payload


def _segment(body: bytes) -> Segment | None:
    _, high, low, captured, _ = struct.unpack_from("<IIIII", body)
    packet = body[20 : 20 + captured]
    if packet[:1] == b"\x45" and packet[9:10] == bytes((_TCP,)):
        start, end = _IP_HEADER.size, int.from_bytes(packet[2:4])
        ips = packet[12:16], packet[16:20]
    elif packet[:1] == b"\x60" and packet[6:7] == bytes((_TCP,)):
        start = _IPV6_HEADER.size
        end = start + int.from_bytes(packet[4:6])
        ips = packet[8:24], packet[24:40]
    else:
        return None
    if len(packet) < start + _TCP_HEADER.size:
        return None
    source, target, sequence, acknowledged, offset, flags, *_ = _TCP_HEADER.unpack_from(packet, start)
    source_ip, target_ip = (str(ipaddress.ip_address(each)) for each in ips)
    payload = packet[start + (offset >> 4) * 4 : end]
    time_us = high << 32 | low
    return Segment(time_us, (source_ip, source), (target_ip, target), sequence, acknowledged, flags, payload)


@functools.lru_cache(256)
def _ip(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return _LOOPBACK


def _checksum(header: bytes) -> int:
    words: tuple[int, ...] = struct.unpack(f">{len(header) // 2}H", header)
    total = sum(words)
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
