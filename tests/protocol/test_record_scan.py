"""Records of a batch, looked through the quick way and field by field."""

from hypothesis import given, settings
from hypothesis import strategies as st

from mockbroker.protocol import record_batch, record_scan
from mockbroker.rig.batches import Record, batch

from ..properties import examples


def number(data: bytes, at: int, most: int) -> tuple[int, int]:
    """A zig-zag varint of at most so many bytes, and the offset behind it."""
    value = 0
    for index in range(most):
        value |= (data[at + index] & 0x7F) << 7 * index
        if data[at + index] < 0x80:
            value &= (1 << (32 if most == 5 else 64)) - 1
            return (value >> 1) ^ -(value & 1), at + index + 1
    raise ValueError("too long")


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


@given(
    sizes=st.lists(st.sampled_from([0, 1, 60, 61, 62, 63, 100, 8300]), min_size=1, max_size=2),
    times=st.lists(st.sampled_from([0, 0, 0, 5, 300]), min_size=1, max_size=140),
    changes=st.lists(
        st.tuples(st.floats(0, 1), st.sampled_from([0, 1, 2, 0x7F, 0x80, 0x81, 0xFF])), max_size=3
    ),
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
    count = len(times)
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
