"""Packet captures: writes pcapng without a link layer, as Wireshark reads it; reads pcapng and pcap.

Source: draft-ietf-opsawg-pcapng, draft-ietf-opsawg-pcap; link type 101 is LINKTYPE_RAW.
"""

import functools
import ipaddress
import struct
from collections.abc import Iterator
from typing import BinaryIO, Final

from ..errors import MockBrokerError
from .packets import Address, Segment, readable, segment

__all__ = ["ACK", "FIN", "MAX_PAYLOAD", "PUSH", "SYN", "Address", "CaptureError", "Segment", "Writer", "read"]

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
_CLASSIC: Final = {
    b"\xd4\xc3\xb2\xa1": ("<", 1_000_000),
    b"\xa1\xb2\xc3\xd4": (">", 1_000_000),
    b"\x4d\x3c\xb2\xa1": ("<", 1_000_000_000),
    b"\xa1\xb2\x3c\x4d": (">", 1_000_000_000),
}
"""The byte order of a pcap file, and how many units of its clock a second has, by its first four bytes."""
MAX_PAYLOAD: Final = 65_000
"""What fits into one packet besides its headers."""

FIN, SYN, PUSH, ACK = 1, 2, 8, 16


class CaptureError(MockBrokerError, ValueError):
    """A file that is not a capture of this kind; the message names the offset."""


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
    """The TCP segments of a pcapng or pcap file; other blocks and packets are skipped. CaptureError."""
    magic = file.read(4)
    if (found := _CLASSIC.get(magic)) is not None:
        yield from _read_classic(file, *found)
    else:
        yield from _read_blocks(file, magic)


def _read_classic(file: BinaryIO, order: str, per_second: int) -> Iterator[Segment]:
    head = file.read(20)
    if len(head) < 20:
        raise CaptureError("offset 0: the head of the capture is cut short")
    link = struct.unpack(f"{order}HHiIII", head)[5] & 0xFFFF
    _check_link(link)
    offset = 24
    while head := file.read(16):
        if len(head) < 16:
            raise CaptureError(f"offset {offset}: {len(head)} bytes are not a packet")
        seconds, fraction, size, _ = struct.unpack(f"{order}IIII", head)
        packet = file.read(size) if size < 1 << 28 else b""
        if len(packet) != size:
            raise CaptureError(f"offset {offset}: a packet of {size} bytes is cut short")
        if found := segment(link, seconds * 1_000_000 + fraction * 1_000_000 // per_second, packet):
            yield found
        offset += 16 + size


def _read_blocks(file: BinaryIO, magic: bytes) -> Iterator[Segment]:
    offset, head = 0, magic + file.read(4)
    interfaces: list[tuple[int, int]] = []
    while head:
        if len(head) < 8:
            raise CaptureError(f"offset {offset}: {len(head)} bytes are not a block")
        kind, size = struct.unpack("<II", head)
        if offset == 0 and kind != _SECTION:
            raise CaptureError("offset 0: not a pcapng file")
        body = file.read(size - 8) if 12 <= size < 1 << 28 else b""
        if len(body) != size - 8:
            raise CaptureError(f"offset {offset}: a block of {size} bytes is cut short")
        if kind == _SECTION:
            if body[:4] != struct.pack("<I", _ORDER):
                raise CaptureError(f"offset {offset}: big-endian captures are not supported")
            interfaces.clear()
        elif kind == _INTERFACE:
            interfaces.append(_interface(body))
        elif kind == _PACKET and (found := _in_block(body, interfaces)):
            yield found
        offset += size
        head = file.read(8)


def _interface(body: bytes) -> tuple[int, int]:
    """Its link type, and how many units of its clock a second has (option 9, `if_tsresol`)."""
    (link,) = struct.unpack_from("<H", body)
    _check_link(link)
    at, per_second = 8, 1_000_000
    while at + 4 <= len(body) - 4:
        code, size = struct.unpack_from("<HH", body, at)
        if code == 9 and size:
            exponent = body[at + 4]
            per_second = 1 << (exponent & 0x7F) if exponent & 0x80 else 10**exponent
        at += 4 + (size + 3) // 4 * 4
    return link, per_second


def _check_link(link: int) -> None:
    if not readable(link):
        raise CaptureError(f"packets of link type {link} can't be read: capture with `tcpdump -i any`")


def _in_block(body: bytes, interfaces: list[tuple[int, int]]) -> Segment | None:
    number, high, low, captured, _ = struct.unpack_from("<IIIII", body)
    if number >= len(interfaces):
        raise CaptureError(f"a packet of interface {number}, which the capture does not describe")
    link, per_second = interfaces[number]
    return segment(link, (high << 32 | low) * 1_000_000 // per_second, body[20 : 20 + captured])


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
