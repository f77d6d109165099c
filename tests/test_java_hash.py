"""Hash codes as Java computes them: the measured ones, and its definition for any text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockbroker.java_hash import java_hash, positive_hash
from mockbroker.policies.groups.tied_protocols import java_order


@pytest.mark.parametrize(
    ("text", "signed"),
    [
        ("", 0),
        ("hello", 99_162_322),
        ("__consumer_offsets", -970_371_369),
        ("polygenelubricants", -(2**31)),
        ("\N{GRINNING FACE}", 1_772_899),
    ],
)
def test_hash_codes_are_those_of_java(text: str, signed: int) -> None:
    assert java_hash(text) == signed & 0xFFFFFFFF
    assert positive_hash(text) == (0 if signed == -(2**31) else abs(signed))


@given(st.text(max_size=3000))
def test_every_utf_16_unit_counts(text: str) -> None:
    """A character beyond the basic plane is two units to Java."""
    value = 0
    encoded = text.encode("utf-16-be", "surrogatepass")
    for at in range(0, len(encoded), 2):
        value = (31 * value + int.from_bytes(encoded[at : at + 2])) & 0xFFFFFFFF
    assert java_hash(text) == value


def test_tied_protocols_beyond_the_basic_plane_are_in_the_order_of_a_hash_map() -> None:
    """`"\\uD83D\\uDE00"` is in bucket 8 of 16 (its hash is 0x1b0d63), "a" in 1: Java takes "a"."""
    assert java_order({"\N{GRINNING FACE}": 1, "a": 1}) == "a"
