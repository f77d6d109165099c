"""Records of a batch, looked through the quick way and field by field."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mockbroker.protocol import record_batch, record_scan
from mockbroker.rig.batches import Record, batch

from ..properties import examples

BYTES = (0, 1, 2, 0x7F, 0x80, 0x81, 0xFF)


def number(data: bytes, at: int, most: int) -> tuple[int, int]:
    """A zig-zag varint of at most so many bytes, and the offset behind it."""
    value = 0
    for index in range(most):
        value |= (data[at + index] & 0x7F) << 7 * index
        if data[at + index] < 0x80:
            value &= (1 << (32 if most == 5 else 64)) - 1
            return (value >> 1) ^ -(value & 1), at + index + 1
    raise ValueError("too long")


def records(data: bytes, count: int) -> Iterator[int]:
    """Where each record begins."""
    at = 0
    for _ in range(count):
        yield at
        size, at = number(data, at, 5)
        at += size


def field_by_field(data: bytes, count: int) -> tuple[int, int]:
    """What `scan` finds, as plainly as it can be said."""
    at, deltas = 0, []
    for _ in range(count):
        size, start = number(data, at, 5)
        delta, at = number(data, start + 1, 10)
        deltas.append(delta)
        _, at = number(data, at, 5)
        for _ in range(2):
            length, at = number(data, at, 5)
            at += max(0, length)
        headers, at = number(data, at, 5)
        if headers < 0:
            raise ValueError("a negative number of headers")
        for _ in range(headers):
            length, at = number(data, at, 5)
            if length < 0:
                raise ValueError("no key")
            length, at = number(data, at + length, 5)
            at += max(0, length)
        if at != start + size or at > len(data):
            raise ValueError("not as long as it says")
    if at != len(data):
        raise ValueError("records are left")
    return min(deltas), max(deltas)


RUNS = st.lists(st.tuples(st.sampled_from([0, 5, 300]), st.integers(1, 150)), min_size=1, max_size=2).map(
    lambda runs: [time for time, count in runs for _ in range(count)]
)
"""Times of many records, one after the other, that have the same."""


@given(
    sizes=st.lists(st.sampled_from([0, 1, 60, 61, 62, 63, 100, 8300]), min_size=1, max_size=2),
    times=RUNS | st.lists(st.sampled_from([0, 0, 0, 5, 300]), min_size=1, max_size=140),
    changes=st.lists(st.tuples(st.floats(0, 1), st.sampled_from(BYTES)), max_size=3),
    keyed=st.booleans(),
)
@settings(max_examples=examples(300))
def test_records_that_look_like_the_one_before_are_looked_at_all_the_same(
    sizes: list[int], times: list[int], changes: list[tuple[float, int]], keyed: bool
) -> None:
    values = [b"\x01" * sizes[index * len(sizes) // len(times)] for index in range(len(times))]
    key = b"k" if keyed else None
    made = [Record(timestamp=t, value=v, key=key) for t, v in zip(times, values, strict=True)]
    data = bytearray(batch(made)[record_batch.HEADER_BYTES :])
    for place, byte in changes:
        data[int(place * (len(data) - 1))] = byte
    are_found_in(data, len(times))


@pytest.mark.parametrize("index", [25, 100])
@pytest.mark.parametrize("place", [*range(10), -1])
def test_one_that_differs_among_many_that_are_alike_is_noticed(index: int, place: int) -> None:
    """The offset delta of a record has one byte, and of later ones two."""
    plain = batch([Record(timestamp=5, value=b"\x01" * 61)] * 150)[record_batch.HEADER_BYTES :]
    starts = list(records(plain, 150))
    at = (starts[index] if place >= 0 else starts[index + 1]) + place
    for byte in BYTES:
        data = bytearray(plain)
        data[at] = byte
        are_found_in(data, 150)


def are_found_in(data: bytearray, count: int) -> None:
    """Or they are refused, if they are not as they say."""
    try:
        expected = field_by_field(bytes(data), count)
    except (ValueError, IndexError):
        expected = None
    for form in (bytes(data), data, memoryview(data)):
        try:
            found = record_scan.scan(form, 0, count)
        except ValueError:
            assert expected is None
        else:
            assert found == expected
