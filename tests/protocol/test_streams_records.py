"""Records of streams groups: what is written is read again, and nothing else fails."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mockbroker.protocol import streams_group_records as records
from mockbroker.protocol.streams_group_keys import (
    StreamsKey,
    StreamsKind,
    read_streams_key,
    write_streams_key,
)
from tests.properties import examples

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
ints = st.integers(-(1 << 31), (1 << 31) - 1)
shorts = st.integers(0, (1 << 15) - 1)
pairs = st.lists(st.tuples(texts, texts), max_size=3).map(tuple)
tasks = st.dictionaries(texts, st.lists(st.integers(0, 1000), max_size=4), max_size=3)
owned = st.dictionaries(texts, st.dictionaries(st.integers(0, 1000), ints, max_size=4), max_size=3)
topics = st.lists(st.builds(records.InternalTopic, texts, ints, shorts, pairs), max_size=2).map(tuple)
names = st.lists(texts, max_size=3).map(tuple)
places = st.lists(shorts, max_size=3).map(tuple)
groups = st.lists(st.builds(records.Copartition, places, places, places), max_size=2).map(tuple)
subtopologies = st.builds(records.Subtopology, texts, names, names, topics, names, topics, groups)
VALUES = {
    StreamsKind.TOPOLOGY: st.builds(
        records.TopologyValue, ints, st.lists(subtopologies, max_size=2).map(tuple)
    ),
    StreamsKind.EPOCH: st.builds(
        records.StreamsEpochValue,
        ints,
        ints,
        st.none() | pairs,
        ints,
        ints,
        st.integers(-(1 << 63), (1 << 63) - 1),
    ),
    StreamsKind.MEMBER: st.builds(
        records.StreamsMemberValue,
        st.none() | texts,
        st.none() | texts,
        texts,
        texts,
        ints,
        ints,
        texts,
        st.none() | st.tuples(texts, st.integers(0, 65535)),
        pairs,
    ),
    StreamsKind.TARGET_EPOCH: st.builds(records.StreamsTargetEpochValue, ints, st.integers(0, 1 << 60)),
    StreamsKind.TARGET: st.builds(records.StreamsTargetValue, tasks, tasks, tasks),
    StreamsKind.CURRENT: st.builds(
        records.StreamsCurrentValue, ints, ints, st.integers(0, 127), owned, tasks, tasks, owned, tasks, tasks
    ),
}


@given(st.sampled_from(sorted(VALUES)), st.data(), texts, texts)
@settings(max_examples=examples(200))
def test_records(kind: StreamsKind, data: st.DataObject, group: str, name: str) -> None:
    value: records.StreamsValue = data.draw(VALUES[kind])  # type: ignore[assignment]
    written = records.write_streams_value(value, with_times=True)
    assert records.read_streams_value(kind, written) == value
    named = kind in (StreamsKind.MEMBER, StreamsKind.TARGET, StreamsKind.CURRENT)
    key = StreamsKey(kind, group, name if named else "")
    assert read_streams_key(write_streams_key(key)) == key
    with pytest.raises(ValueError, match="cut short"):
        records.read_streams_value(kind, written[:-1])


def test_other_keys_and_versions() -> None:
    assert read_streams_key(b"\0\x12\0\1g") is None
    assert read_streams_key(b"\0") is None
    with pytest.raises(ValueError, match="unknown version"):
        records.read_streams_value(StreamsKind.EPOCH, b"\0\1")


def test_tasks_without_epochs_have_that_of_the_member() -> None:
    """As 4.1 wrote them."""
    active = b"\x02\x020\x03\0\0\0\0\0\0\0\1\0"
    written = b"\0\0\0\0\0\7\0\0\0\6\0" + active + b"\1\1\1\1\1\0"
    value = records.read_streams_value(StreamsKind.CURRENT, written)
    assert isinstance(value, records.StreamsCurrentValue)
    assert value.active == {"0": {0: 7, 1: 7}}
