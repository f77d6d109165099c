"""A connection's bytes are cut where records of TLS end, however they come."""

import itertools
import struct

from hypothesis import given
from hypothesis import strategies as st

from mockbroker.server.tls_records import Records

SIZES = st.lists(st.integers(0, 40), min_size=1, max_size=20)


def written(sizes: list[int]) -> bytes:
    return b"".join(struct.pack(">BHH", 23, 0x0303, size) + bytes([255]) * size for size in sizes)


@given(SIZES, st.integers(1, 5))
def test_so_many_records_are_cut_off(sizes: list[int], most: int) -> None:
    records, data = Records(), written(sizes)
    for at in range(0, len(sizes), most):
        expected = len(written(sizes[at : at + most]))
        assert records.first(data, most) == expected
        data = data[expected:]
    assert not data


@given(SIZES, st.lists(st.integers(0, 200)), st.integers(1, 5))
def test_they_end_where_they_end_however_they_come(sizes: list[int], cuts: list[int], most: int) -> None:
    data = written(sizes)
    places = sorted({0, len(data), *(each for each in cuts if each < len(data))})
    records = Records()
    for begin, end in itertools.pairwise(places):
        assert records.first(data[begin:end], len(data)) == end - begin
    assert records.first(written([7] * 10), most) == len(written([7] * min(most, 10)))
