"""Text by Java's rules: `trim`, `split`, `parseLong`, `parseDouble`, and the order of a `HashMap`."""

import re
import unicodedata
from collections.abc import Iterable
from decimal import Decimal
from typing import Final

from ..java_hash import spread_hash

_TRIMMED: Final = "".join(map(chr, range(0x21)))
_DECIMAL: Final = re.compile(
    r"([+-]?)(NaN|Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fFdD]?)", re.ASCII
)
_HEXADECIMAL: Final = re.compile(
    r"([+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+)[fFdD]?", re.ASCII
)
_LONGEST: Final = 19
"""Digits of the greatest long: int() takes long ones of no more than 4,300."""


def trim(text: str) -> str:
    """Without control characters and blanks at both ends; other kinds of spaces stay."""
    return text.strip(_TRIMMED)


def integer(text: str, bits: int) -> int | None:
    """The signed integer of so many bits that `text` stands for; None when it is none. Digits of any
    script count, as far as they are 16 bits (`Character.digit`)."""
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
    """The floating-point number, hexadecimal ones too; None when it is none."""
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
    """`Double.toString`: scientific form below 1e-3 and from 1e7 on."""
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
    """As a `HashMap` of the default size goes through them, or `Properties`: up to 12."""
    return sorted(names, key=lambda name: spread_hash(name) & 15)
