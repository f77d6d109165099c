"""Reads packet captures, pcapng and pcap, with any link layer that tcpdump writes.

Source: draft-ietf-opsawg-pcapng, draft-ietf-opsawg-pcap; the LINKTYPE_ values of
www.tcpdump.org/linktypes.html; RFC 791, 8200 and 9293.
"""

import ipaddress
import struct
from collections.abc import Iterator
from typing import BinaryIO, Final

from ..errors import MockBrokerError
from .pcapng import INTERFACE, ORDER, PACKET, SECTION, Segment

_TCP_HEADER: Final = struct.Struct(">HHIIBBHHH")
_TCP: Final = 6
_VLAN: Final = (0x8100, 0x88A8)
_EXTENSIONS: Final = (0, 43, 60)
"""Hop-by-hop options, routing and destination options: headers between that of IPv6 and TCP's."""
_RAW: Final = (12, 14, 101, 228, 229)
_LINKS: Final = {0: 4, 108: 4, 113: 16, 276: 20}
"""How many bytes are in front of the IP packet: loopback of BSD and OpenBSD, Linux "any", its version 2."""
ETHERNET: Final = 1
_CLASSIC: Final = {
    b"\xd4\xc3\xb2\xa1": ("<", 1_000_000),
    b"\xa1\xb2\xc3\xd4": (">", 1_000_000),
    b"\x4d\x3c\xb2\xa1": ("<", 1_000_000_000),
    b"\xa1\xb2\x3c\x4d": (">", 1_000_000_000),
}
"""The byte order of a pcap file, and how many units of its clock a second has, by its first four bytes."""


class CaptureError(MockBrokerError, ValueError):
    """A file that is not a capture of this kind; the message names the offset."""


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
        if offset == 0 and kind != SECTION:
            raise CaptureError("offset 0: not a pcapng file")
        body = file.read(size - 8) if 12 <= size < 1 << 28 else b""
        if len(body) != size - 8:
            raise CaptureError(f"offset {offset}: a block of {size} bytes is cut short")
        if kind == SECTION:
            if body[:4] != struct.pack("<I", ORDER):
                raise CaptureError(f"offset {offset}: big-endian captures are not supported")
            interfaces.clear()
        elif kind == INTERFACE:
            interfaces.append(_interface(body))
        elif kind == PACKET and (found := _in_block(body, interfaces)):
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


def readable(link: int) -> bool:
    """Whether packets of this link type can be read."""
    return link == ETHERNET or link in _RAW or link in _LINKS


def segment(link: int, time_us: int, packet: bytes) -> Segment | None:
    """The TCP segment in a packet; None if it is none, a fragment, or cut off before the payload."""
    packet = packet[_ip_at(link, packet) :]
    if len(packet) < 40:
        return None
    if packet[0] >> 4 == 4:
        found = _version_4(packet)
    elif packet[0] >> 4 == 6:
        found = _version_6(packet)
    else:
        return None
    if found is None:
        return None
    ips, start, end = found
    if len(packet) < start + _TCP_HEADER.size:
        return None
    source, target, sequence, acknowledged, offset, flags, *_ = _TCP_HEADER.unpack_from(packet, start)
    one, other = (str(ipaddress.ip_address(each)) for each in ips)
    payload = packet[start + (offset >> 4) * 4 : end]
    return Segment(time_us, (one, source), (other, target), sequence, acknowledged, flags, payload)


def _ip_at(link: int, packet: bytes) -> int:
    if link != ETHERNET:
        return _LINKS.get(link, 0)
    at = 12
    while len(packet) >= at + 2 and int.from_bytes(packet[at : at + 2]) in _VLAN:
        at += 4
    return at + 2


def _version_4(packet: bytes) -> tuple[tuple[bytes, bytes], int, int] | None:
    fragment = int.from_bytes(packet[6:8]) & 0x3FFF
    if packet[9] != _TCP or fragment:
        return None
    # The size is 0 where the network card was to fill it in.
    end = int.from_bytes(packet[2:4]) or len(packet)
    return (packet[12:16], packet[16:20]), (packet[0] & 15) * 4, end


def _version_6(packet: bytes) -> tuple[tuple[bytes, bytes], int, int] | None:
    following, start = packet[6], 40
    end = 40 + int.from_bytes(packet[4:6]) if packet[4:6] != b"\0\0" else len(packet)
    while following in _EXTENSIONS and len(packet) >= start + 2:
        following, start = packet[start], start + 8 * (packet[start + 1] + 1)
    return ((packet[8:24], packet[24:40]), start, end) if following == _TCP else None
