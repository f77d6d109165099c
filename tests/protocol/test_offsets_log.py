"""Records of `__consumer_offsets`, against `offsets_structs`, which follows Kafka's own schemas."""

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mockbroker.protocol.group_metadata import GroupMetadata, MemberMetadata, read_group, write_group
from mockbroker.protocol.offsets_log import (
    NO_TOPIC_ID,
    Commit,
    CommitKey,
    GroupKey,
    commit_key,
    commit_value,
    group_key,
    read_commit,
    read_key,
)

from ..driving.offsets_structs import COMMIT, GROUP, KEY
from ..properties import examples

VERSIONS = range(5)
WRITTEN = range(4)
"""Groups are never written with version 4."""
INT64 = st.integers(-(1 << 63), (1 << 63) - 1)
INT32 = st.integers(-(1 << 31), (1 << 31) - 1)
NAMES = st.text(st.characters(codec="utf-8"), max_size=140)
COMMITS = st.builds(
    Commit, INT64, INT32, NAMES, INT64, INT64, st.just(NO_TOPIC_ID) | st.binary(min_size=16, max_size=16)
)
BYTES = st.binary(max_size=140)
MEMBERS = st.builds(MemberMetadata, NAMES, st.none() | NAMES, NAMES, NAMES, INT32, INT32, BYTES, BYTES)
GROUPS = st.builds(
    GroupMetadata, NAMES, INT32, st.none() | NAMES, st.none() | NAMES, INT64, st.lists(MEMBERS, max_size=3)
)


def kept(commit: Commit, version: int) -> Commit:
    """What is left of a commit in a value of this version."""
    return commit._replace(
        leader_epoch=commit.leader_epoch if version >= 3 else -1,
        expire_ms=commit.expire_ms if version == 1 else -1,
        topic_id=commit.topic_id if version == 4 else NO_TOPIC_ID,
    )


def of_commit(commit: Commit, version: int) -> bytes:
    return bytes(COMMIT.build({"version": version, "content": commit._asdict()}))


def kept_group(group: GroupMetadata, version: int) -> GroupMetadata:
    members = [
        each._replace(
            instance_id=each.instance_id if version >= 3 else None,
            rebalance_timeout_ms=each.rebalance_timeout_ms if version >= 1 else each.session_timeout_ms,
        )
        for each in group.members
    ]
    return group._replace(since_ms=group.since_ms if version >= 2 else -1, members=members)


def of_group(group: GroupMetadata, version: int) -> bytes:
    members = [
        {**each._asdict(), "member_id": each.id, "group_instance_id": each.instance_id}
        for each in group.members
    ]
    content = {**group._asdict(), "state_ms": group.since_ms, "members": members}
    return bytes(GROUP.build({"version": version, "content": content}))


@given(group=NAMES, topic=NAMES, partition=INT32)
def test_keys(group: str, topic: str, partition: int) -> None:
    content = {"group": group, "topic": topic, "partition": partition}
    assert commit_key(group, topic, partition) == KEY.build({"version": 1, "content": content})
    for version in (0, 1):
        built = KEY.build({"version": version, "content": content})
        assert read_key(built) == CommitKey(group, topic, partition)
    assert group_key(group) == KEY.build({"version": 2, "content": content})
    assert read_key(group_key(group)) == GroupKey(group, "classic")


@pytest.mark.parametrize("version", VERSIONS)
@given(commit=COMMITS)
def test_commits(version: int, commit: Commit) -> None:
    built = of_commit(commit, version)
    assert commit_value(commit, version) == built
    assert read_commit(built) == kept(commit, version)


@pytest.mark.parametrize("version", WRITTEN)
@settings(max_examples=examples(30))
@given(group=GROUPS)
def test_groups_as_they_are_written(version: int, group: GroupMetadata) -> None:
    assert write_group(group, version) == of_group(group, version)


@pytest.mark.parametrize("version", VERSIONS)
@settings(max_examples=examples(30))
@given(group=GROUPS)
def test_groups_as_they_are_read(version: int, group: GroupMetadata) -> None:
    assert read_group(of_group(group, version)) == kept_group(group, version)


@given(commit=COMMITS, tag=st.integers(1, 300), unknown=BYTES)
def test_a_tagged_field_that_nobody_knows(commit: Commit, tag: int, unknown: bytes) -> None:
    tags = [(0, commit.topic_id), (tag, unknown)]
    built = of_commit(commit._replace(topic_id=NO_TOPIC_ID), 4)[:-1]
    for number, (key, data) in enumerate(tags):
        built += (b"\2" if number == 0 else b"") + _varint(key) + _varint(len(data)) + data
    assert read_commit(built) == kept(commit, 4)


def _varint(value: int) -> bytes:
    return bytes([value & 0x7F | 0x80, value >> 7]) if value > 0x7F else bytes([value])


@given(group=NAMES, topic=NAMES, data=st.data())
def test_keys_that_are_cut_short(group: str, topic: str, data: st.DataObject) -> None:
    for whole in (commit_key(group, topic, 1), group_key(group)):
        with pytest.raises(ValueError, match="cut short"):
            read_key(whole[: data.draw(st.integers(0, len(whole) - 1))])


@pytest.mark.parametrize("version", VERSIONS)
@given(commit=COMMITS, data=st.data())
def test_commits_that_are_cut_short(version: int, commit: Commit, data: st.DataObject) -> None:
    whole = of_commit(commit, version)
    with pytest.raises(ValueError, match="cut short"):
        read_commit(whole[: data.draw(st.integers(0, len(whole) - 1))])


@pytest.mark.parametrize("version", VERSIONS)
@settings(max_examples=examples(30))
@given(group=GROUPS, data=st.data())
def test_groups_that_are_cut_short(version: int, group: GroupMetadata, data: st.DataObject) -> None:
    whole = of_group(group, version)
    with pytest.raises(ValueError, match="cut short"):
        read_group(whole[: data.draw(st.integers(0, len(whole) - 1))])


@given(version=st.integers(-(1 << 15), (1 << 15) - 1).filter(lambda version: version not in VERSIONS))
def test_unknown_versions(version: int) -> None:
    value = version.to_bytes(2, "big", signed=True) + bytes(100)
    for read in (read_commit, read_group):
        with pytest.raises(ValueError, match=f"unknown version {version} "):
            read(value)


@given(version=st.integers(0, 4), rest=st.binary(max_size=200))
def test_any_bytes(version: int, rest: bytes) -> None:
    """They are read, or refused with ValueError."""
    for read in (read_key, read_commit, read_group):
        with contextlib.suppress(ValueError):
            read(version.to_bytes(2, "big") + rest)
