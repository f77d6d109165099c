"""The records of `__share_group_state` as rows: what a share coordinator keeps of a share group and a
partition (KIP-932).

They have the topic's id in place of its name, which `topic-id` rows of other files tell.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from ...protocol.primitives import short_uuid, uuid_of_short
from ...protocol.record_batch import Record
from ...protocol.share_group_records import ShareKind, SharePartitionsValue, read_share_value
from ...protocol.share_state_log import (
    UNKNOWN,
    SharePartitionKey,
    Snapshot,
    StateBatch,
    Update,
    read_key,
    read_snapshot,
    read_update,
)
from ...share_partitions.states import RecordState
from ..observations import Observation

TOPIC: Final = "__share_group_state"
KIND: Final = "share-state"
WARNING: Final = "share-warning"
"""The kind of a row of a leader's log about a record that a group is given for the last time."""
WHOLE: Final = "whole"
"""How the detail of a row begins that has the whole state, not only what has changed since the last one."""
DELETED: Final = "deleted"
LIMIT: Final = 5
"""The default of `group.share.delivery.count.limit`."""
SET_LIMIT: Final = r"\bshare\.delivery\.count\.limit = (\d{1,9})\b"
"""In what is set of a group (rows of the kind `config`): how often it may be given a record."""
_VERSION: Final = b"\0\0"
_PARTITIONS: Final = int(ShareKind.PARTITIONS).to_bytes(2)
_BATCH: Final = ("firstOffset", "lastOffset", "deliveryState", "deliveryCount")
_NAMING: Final = ("initializingTopics", "initializedTopics", "deletingTopics")
_DONE: Final = (RecordState.ACKNOWLEDGED, RecordState.ARCHIVED)


def of_record(record: Record, blank: Observation) -> Observation:
    """ValueError."""
    key, whole = read_key(record.key or b"")
    return of_state(key, None if record.value is None else _value(record.value, whole=whole), blank)


def _value(data: bytes, *, whole: bool) -> Snapshot | Update:
    if data[:2] != _VERSION:
        raise ValueError("the state of a share partition has an unknown version")
    return read_snapshot(data) if whole else read_update(data)


def of_state(key: SharePartitionKey, value: Snapshot | Update | None, blank: Observation) -> Observation:
    """The row of a state, None if it was deleted. ValueError for states of records that nobody knows."""
    row = replace(blank, kind=KIND, group=key.group, topic=short_uuid(key.topic_id), partition=key.partition)
    if value is None:
        row.detail = DELETED
        return row
    row.offset = _known(value.start_offset)
    row.leader_epoch = _known(value.leader_epoch)
    if isinstance(value, Snapshot):
        row.generation = _known(value.state_epoch)
    states = [f"{each.first}-{each.last} {_name(each)} {each.deliveries}" for each in value.batches]
    row.detail = ", ".join([WHOLE] * isinstance(value, Snapshot) + states) or None
    row.end_offset = max((each.last + 1 for each in value.batches if _is_done(each)), default=None)
    return row


def names_in_json(key: Mapping[str, Any]) -> bool:
    """Whether a tool printed it for the key of a record that `names` reads."""
    return str(key.get("type", key.get("version"))) == str(int(ShareKind.PARTITIONS))


def names_of_json(value: Mapping[str, Any] | None, blank: Observation) -> Iterator[Observation]:
    """KeyError, TypeError."""
    said = {} if value is None else value["data"]
    for each in [each for name in _NAMING for each in said.get(name) or ()]:
        yield replace(blank, kind="topic-id", topic=each["topicName"], detail=each["topicId"])


def is_json(key: Mapping[str, Any]) -> bool:
    """Whether a tool printed it for the key of a state."""
    return set(key["data"]) == {"groupId", "topicId", "partition"}


def of_json(key: Mapping[str, Any], value: Mapping[str, Any] | None, blank: Observation) -> Observation:
    """As `kafka-dump-log` prints a state. KeyError, TypeError, ValueError."""
    data, topic_id = key["data"], uuid_of_short(key["data"]["topicId"])
    if topic_id is None:
        raise ValueError(f"no topic has the id {data['topicId']!r}")
    where = SharePartitionKey(data["groupId"], topic_id, int(data["partition"]))
    if value is None:
        return of_state(where, None, blank)
    said = value["data"]
    batches = tuple(StateBatch(*(int(each[name]) for name in _BATCH)) for each in said["stateBatches"] or ())
    told = int(said["snapshotEpoch"]), int(said["leaderEpoch"]), int(said["startOffset"]), UNKNOWN, batches
    if "stateEpoch" not in said:
        return of_state(where, Update(*told), blank)
    epoch, leader_epoch, start, count, _ = told
    times = int(said.get("createTimestamp", UNKNOWN)), int(said.get("writeTimestamp", UNKNOWN))
    return of_state(
        where, Snapshot(epoch, int(said["stateEpoch"]), leader_epoch, start, count, *times, batches), blank
    )


def _name(batch: StateBatch) -> str:
    return RecordState(batch.state).name.lower()


def _is_done(batch: StateBatch) -> bool:
    return RecordState(batch.state) in _DONE


def _known(value: int) -> int | None:
    return None if value < 0 else value


def names(record: Record, blank: Observation) -> Iterator[Observation]:
    """The names of topics, if it is the record of `__consumer_offsets` that says which partitions of them a
    share group has. ValueError."""
    key = record.key or b""
    if not key.startswith(_PARTITIONS) or record.value is None:
        return
    value = read_share_value(ShareKind.PARTITIONS, record.value)
    assert isinstance(value, SharePartitionsValue)
    for topic_id, name in value.names.items():
        yield replace(blank, kind="topic-id", topic=name, detail=short_uuid(topic_id))
