"""Records of share groups and of share partitions: what is written is read again, and nothing else fails."""

import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mockbroker.protocol import share_group_records as groups
from mockbroker.protocol import share_state_log as states
from tests.properties import examples

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
ids = st.uuids()
ints = st.integers(-(1 << 31), (1 << 31) - 1)
longs = st.integers(-(1 << 63), (1 << 63) - 1)
places = st.dictionaries(ids, st.lists(st.integers(0, 1000), max_size=4), max_size=3)
batches = st.lists(
    st.builds(states.StateBatch, longs, longs, st.integers(0, 127), st.integers(0, 32767)), max_size=4
).map(tuple)
VALUES = {
    groups.ShareKind.MEMBER: st.builds(
        groups.ShareMemberValue, st.none() | texts, texts, texts, st.lists(texts, max_size=3)
    ),
    groups.ShareKind.EPOCH: st.builds(groups.ShareEpochValue, ints, longs),
    groups.ShareKind.TARGET_EPOCH: st.builds(groups.ShareTargetEpochValue, ints, st.integers(0, 1 << 60)),
    groups.ShareKind.TARGET: st.builds(groups.ShareTargetValue, places),
    groups.ShareKind.CURRENT: st.builds(groups.ShareCurrentValue, ints, ints, places),
}
KEY = states.SharePartitionKey("g", uuid.UUID(int=7), 3)


@given(st.sampled_from(sorted(VALUES)), st.data(), texts, texts)
@settings(max_examples=examples(200))
def test_records_of_groups(kind: groups.ShareKind, data: st.DataObject, group: str, name: str) -> None:
    value: groups.ShareValue = data.draw(VALUES[kind])  # type: ignore[assignment]
    written = groups.write_share_value(value, with_times=True)
    assert groups.read_share_value(kind, written) == value
    named = kind not in (groups.ShareKind.EPOCH, groups.ShareKind.TARGET_EPOCH)
    key = groups.ShareKey(kind, group, name if named else "")
    assert groups.read_share_key(groups.write_share_key(key)) == key
    with pytest.raises(ValueError, match="cut short"):
        groups.read_share_value(kind, written[:-1])


@given(places, places, st.lists(ids, max_size=3), texts)
def test_partitions_of_groups(
    initializing: groups.Partitions, initialized: groups.Partitions, deleting: list[uuid.UUID], name: str
) -> None:
    names = dict.fromkeys([*initializing, *initialized, *deleting], name)
    value = groups.SharePartitionsValue(initializing, initialized, deleting, names)
    written = groups.write_share_value(value, with_times=False)
    assert groups.read_share_value(groups.ShareKind.PARTITIONS, written) == value


@given(st.builds(states.Snapshot, ints, ints, ints, longs, ints, longs, longs, batches))
def test_snapshots(value: states.Snapshot) -> None:
    written = states.write_snapshot(value)
    assert states.read_snapshot(written) == value
    with pytest.raises(ValueError, match="cut short"):
        states.read_snapshot(written[:-1])


@given(st.builds(states.Update, ints, ints, longs, ints, batches))
def test_updates(value: states.Update) -> None:
    written = states.write_update(value)
    assert states.read_update(written) == value
    with pytest.raises(ValueError, match="cut short"):
        states.read_update(written[:-1])


@given(texts, ids, ints, st.booleans())
def test_keys_of_share_partitions(group: str, topic_id: uuid.UUID, partition: int, whole: bool) -> None:
    key = states.SharePartitionKey(group, topic_id, partition)
    assert states.read_key(states.write_key(key, whole=whole)) == (key, whole)


def test_as_brokers_write_them() -> None:
    """By the schemas of 4.3.1."""
    assert states.write_key(KEY, whole=True).hex() == f"0000000167{7:032x}00000003"
    update = states.Update(1, 2, 3, 4, (states.StateBatch(5, 6, 2, 1),))
    head, batch = f"0000{1:08x}{2:08x}{3:016x}", f"02{5:016x}{6:016x}02000100"
    assert states.write_update(update).hex() == f"{head}{batch}010004{4:08x}"


@pytest.mark.parametrize("data", [b"", b"\0", b"\0\0\0\5g", b"\0\7\0\1g" + bytes(20)])
def test_other_keys_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="key"):
        states.read_key(data)
