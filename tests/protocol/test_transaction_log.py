"""Records of `__transaction_state`, markers, and the batches that brokers write."""

from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockbroker.protocol.batch_writing import Marker, key_values, marker_batch, marker_of
from mockbroker.protocol.record_batch import Record, crc_matches, header_of, records
from mockbroker.protocol.transaction_log import (
    Layout,
    TransactionValue,
    read_key,
    read_value,
    write_key,
    write_value,
)

INT64 = st.integers(-(1 << 63), (1 << 63) - 1)
INT32 = st.integers(-(1 << 31), (1 << 31) - 1)
INT16 = st.integers(-(1 << 15), (1 << 15) - 1)
NAMES = st.text(st.characters(codec="utf-8"), max_size=20)
VALUES = st.builds(
    TransactionValue,
    INT64,
    INT16,
    INT32,
    st.integers(0, 7),
    st.none() | st.dictionaries(NAMES, st.lists(INT32, max_size=4), max_size=3),
    INT64,
    INT64,
    previous_producer_id=INT64,
    next_producer_id=INT64,
    client_version=INT16,
    next_producer_epoch=INT16,
    last_epoch=INT16,
)
LOST = {
    Layout.V0: (
        "previous_producer_id",
        "next_producer_id",
        "client_version",
        "next_producer_epoch",
        "last_epoch",
    ),
    Layout.V1: ("last_epoch",),
    Layout.KIP_360: ("previous_producer_id", "next_producer_id", "client_version", "next_producer_epoch"),
}
"""What each form has no room for."""


@pytest.mark.parametrize("layout", Layout)
@given(value=VALUES)
def test_values_are_read_as_they_were_written(layout: Layout, value: TransactionValue) -> None:
    defaults = {field.name: field.default for field in fields(TransactionValue)}
    expected = replace(value, **{name: defaults[name] for name in LOST[layout]})  # type: ignore[arg-type]
    assert read_value(write_value(value, layout), layout) == expected


@given(value=VALUES)
def test_values_of_version_0_are_always_read(value: TransactionValue) -> None:
    written = write_value(value, Layout.V0)
    assert all(read_value(written, layout).producer_id == value.producer_id for layout in Layout)


def test_the_bytes_of_a_value() -> None:
    """Field by field, as `TransactionLogValue.json` orders them."""
    value = TransactionValue(5, 3, 60_000, 1, {"t": [0, 1]}, 111, 100, next_producer_id=8)
    head = bytes.fromhex("000000000000000500030000ea6001")
    times = bytes.fromhex("000000000000006f0000000000000064")
    topics = bytes.fromhex("00000001000174000000020000000000000001")
    assert write_value(value, Layout.V0) == b"\0\0" + head + topics + times
    compact = bytes.fromhex("02027403000000000000000100")
    tags = bytes.fromhex("0101080000000000000008")
    assert write_value(value, Layout.V1) == b"\0\1" + head + compact + times + tags


@given(name=NAMES)
def test_keys(name: str) -> None:
    assert read_key(write_key(name)) == name


@given(committed=st.booleans(), producer_id=st.integers(0, (1 << 63) - 1), coordinator_epoch=INT32)
def test_markers(committed: bool, producer_id: int, coordinator_epoch: int) -> None:
    marker = Marker(producer_id, 3, committed, coordinator_epoch)
    made = marker_batch(marker, 1000)
    header = header_of(made)
    assert (header.attributes, header.base_sequence, header.record_count) == (0x30, -1, 1)
    assert crc_matches(made, header)
    assert marker_of(made, header) == marker


@given(
    pairs=st.lists(
        st.tuples(st.binary(max_size=200), st.none() | st.binary(max_size=200)), min_size=1, max_size=5
    )
)
def test_batches_of_keys_and_values(pairs: list[tuple[bytes, bytes | None]]) -> None:
    made = key_values(pairs, 1000)
    assert crc_matches(made, header_of(made))
    assert list(records(made)) == [Record(i, 1000, key, value) for i, (key, value) in enumerate(pairs)]
