"""Java's rules for text: `trim`, `split`, `parseLong`, `parseDouble`, and the order of a `HashMap`."""

import re
import unicodedata
from collections.abc import Iterable
from decimal import Decimal
from typing import Final

from ..java_hash import spread_hash

_TRIMMED: Final = "".join(map(chr, range(0x21)))
_DECIMAL: Final = re.compile(
    r"([+-]?)(NaN|Infinity|(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]+)?[fFdD]?)", re.ASCII
)
_HEXADECIMAL: Final = re.compile(
    r"([+-]?0[xX](?:[0-9a-fA-F]++\.?[0-9a-fA-F]*+|\.[0-9a-fA-F]++)[pP][+-]?[0-9]+)[fFdD]?", re.ASCII
)
_LONGEST: Final = 19
"""The number of digits of the greatest long; int() refuses more than 4,300."""


def trim(text: str) -> str:
    """Without control characters and blanks at both ends; other kinds of space are kept."""
    return text.strip(_TRIMMED)


def integer(text: str, bits: int) -> int | None:
    """`text` as a signed integer of this many bits; None if it is not one. Digits of any script are accepted,
    as long as they have 16 bits (`Character.digit`)."""
    sign, digits = (text[0], text[1:]) if text[:1] in ("+", "-") else ("", text)
    if not digits.isascii() and all(map(_is_digit, digits)):
        digits = "".join(str(unicodedata.decimal(digit)) for digit in digits)
    if not digits.isascii() or not digits.isdigit():
        return None
    plain = digits.lstrip("0") or "0"
    if len(plain) > _LONGEST:
        return None
    value = -int(plain) if sign == "-" else int(plain)
    return value if -(1 << bits - 1) <= value < 1 << bits - 1 else None


def _is_digit(character: str) -> bool:
    return character <= "\uffff" and unicodedata.category(character) == "Nd"


def double(text: str) -> float | None:
    """`text` as a floating-point number, which may be hexadecimal; None if it is not one."""
    text = trim(text)
    if hexadecimal := _HEXADECIMAL.fullmatch(text):
        try:
            return float.fromhex(hexadecimal[1])
        except OverflowError:
            return float("-inf" if text.startswith("-") else "inf")
    if not _DECIMAL.fullmatch(text):
        return None
    return float(text if text.endswith(("Infinity", "NaN")) else text.rstrip("fFdD"))


def double_text(value: float) -> str:
    """`Double.toString`: scientific notation below 1e-3 and from 1e7 on."""
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    number = Decimal(repr(value)).normalize()
    first, *rest = map(str, number.as_tuple().digits)
    sign = "-" if number.is_signed() else ""
    return f"{sign}{first}.{''.join(rest) or '0'}E{number.adjusted()}"


def split(text: str) -> list[str]:
    """`text.split(",")`: without the empty strings at the end."""
    if not text:
        return [""]
    parts = text.split(",")
    while parts and not parts[-1]:
        parts.pop()
    return parts


def in_hash_order(names: Iterable[str]) -> list[str]:
    """The order in which a `HashMap` of the default size, or `Properties`, is iterated: up to 12 names."""
    return sorted(names, key=bucket)


def bucket(name: str) -> int:
    """Where a `HashMap` of the default size has a name."""
    return spread_hash(name) & 15
