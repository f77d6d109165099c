"""Writes packet captures: pcapng without a link layer, as Wireshark reads it.

Source: draft-ietf-opsawg-pcapng; link type 101 is LINKTYPE_RAW.
"""

import functools
import ipaddress
import struct
from typing import BinaryIO, Final, NamedTuple

Address = tuple[str, int]
"""IP address and port."""

SECTION: Final = 0x0A0D0D0A
INTERFACE: Final = 1
PACKET: Final = 6
ORDER: Final = 0x1A2B3C4D
_RAW: Final = 101
_TCP: Final = 6
_LOOPBACK: Final = ipaddress.IPv4Address("127.0.0.1")
_IP_HEADER: Final = struct.Struct(">BBHHHBBH4s4s")
_IPV6_HEADER: Final = struct.Struct(">IHBB16s16s")
_TCP_HEADER: Final = struct.Struct(">HHIIBBHHH")
MAX_PAYLOAD: Final = 65_000
"""What fits into one packet besides its headers."""

FIN, SYN, PUSH, ACK = 1, 2, 8, 16


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
        self._block(SECTION, struct.pack("<IHHq", ORDER, 1, 0, -1))
        self._block(INTERFACE, struct.pack("<HHI", _RAW, 0, 0))

    def write(self, segment: Segment) -> None:
        packet = _packet(segment)
        head = struct.pack(
            "<IIIII", 0, segment.time_us >> 32, segment.time_us & 0xFFFFFFFF, len(packet), len(packet)
        )
        self._block(PACKET, head + packet)

    def _block(self, kind: int, body: bytes) -> None:
        body += bytes(-len(body) % 4)
        size = struct.pack("<I", len(body) + 12)
        self._file.write(struct.pack("<I", kind) + size + body + size)


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
