"""The subject of a certificate as Kafka shows it (`X500Principal.getName`: RFC 2253 by Java's `AVA.java`)."""

from collections.abc import Iterator
from typing import Final

_KEYWORDS: Final = {
    "2.5.4.3": "CN",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "2.5.4.9": "STREET",
    "0.9.2342.19200300.100.1.25": "DC",
    "0.9.2342.19200300.100.1.1": "UID",
}
"""Those of RFC 2253. Any other attribute is shown by its number, and its value in hexadecimal digits."""
_TEXTS: Final = frozenset((0x0C, 0x13, 0x14, 0x16, 0x1B, 0x1E))
"""Tags of values that are shown as texts."""
_ESCAPED: Final = ',=+<>#;"\\'
_VERSION: Final = 0xA0
_BLANK: Final = " \r"


def subject(certificate: bytes) -> str:
    """Of a certificate in DER; empty if it has none. ValueError for what is no certificate."""
    try:
        _, _, whole = next(_parts(certificate))
        _, _, signed = next(_parts(whole))
        fields = [each for each in _parts(signed) if each[0] != _VERSION]
        # serial number, signature, issuer, validity, subject
        return ",".join("+".join(map(_pair, _values(each))) for each in reversed(_values(fields[4][2])))
    except (IndexError, StopIteration) as error:
        raise ValueError("not a certificate") from error


def _parts(data: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """Tag, all bytes and content of each value in DER."""
    at = 0
    while at < len(data):
        begin, tag, size = at, data[at], data[at + 1]
        at += 2
        if size & 0x80:
            length = size & 0x7F
            size = int.from_bytes(data[at : at + length])
            at += length
        if at + size > len(data):
            raise ValueError("a value in DER is cut off")
        yield tag, data[begin : at + size], data[at : at + size]
        at += size


def _values(data: bytes) -> list[bytes]:
    return [content for _, _, content in _parts(data)]


def _pair(data: bytes) -> str:
    (_, _, oid), (tag, encoded, content) = _parts(data)
    number = _number(oid)
    if number not in _KEYWORDS or tag not in _TEXTS:
        return f"{_KEYWORDS.get(number, number)}=#{encoded.hex()}"
    return f"{_KEYWORDS[number]}={_escaped(content.decode(errors='replace'))}"


def _number(oid: bytes) -> str:
    """An object identifier in dots."""
    arcs, arc = list[int](), 0
    for each in oid:
        arc = arc << 7 | each & 0x7F
        if not each & 0x80:
            arcs.append(arc)
            arc = 0
    first = min(arcs[0] // 40, 2)
    return ".".join(map(str, [first, arcs[0] - 40 * first, *arcs[1:]]))


def _escaped(value: str) -> str:
    found = "".join(f"\\{each}" if each in _ESCAPED else each for each in value).replace("\0", "\\00")
    lead = len(found) - len(found.lstrip(_BLANK))
    trail = len(found.rstrip(_BLANK))
    return "".join(f"\\{each}" if at < lead or at >= trail else each for at, each in enumerate(found))
