"""From packets of any link layer that tcpdump writes to TCP segments.

Source: the LINKTYPE_ values of www.tcpdump.org/linktypes.html; RFC 791, 8200 and 9293.
"""

import ipaddress
import struct
from typing import Final, NamedTuple

Address = tuple[str, int]
"""IP address and port."""

_TCP_HEADER: Final = struct.Struct(">HHIIBBHHH")
_TCP: Final = 6
_VLAN: Final = (0x8100, 0x88A8)
_EXTENSIONS: Final = (0, 43, 60)
"""Hop-by-hop options, routing and destination options: headers between that of IPv6 and TCP's."""
_RAW: Final = (12, 14, 101, 228, 229)
_LINKS: Final = {0: 4, 108: 4, 113: 16, 276: 20}
"""How many bytes are in front of the IP packet: loopback of BSD and OpenBSD, Linux "any", its version 2."""
ETHERNET: Final = 1


class Segment(NamedTuple):
    """One TCP segment. `time_us` is Unix time in microseconds."""

    time_us: int
    source: Address
    target: Address
    sequence: int
    acknowledged: int
    flags: int
    payload: bytes


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
