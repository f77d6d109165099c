"""Records of `__consumer_offsets` as Kafka's tools print them.

In JSON, `{"type": 1, "data": {…}}`, 4.x writes the type of the record; 3.8 and 3.9 write the version of its
key, which is the same number. Before 3.8 each tool has a text of its own.
"""

import base64
import re
import struct
import uuid
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from ..json_texts import read_json
from ..protocol.consumer_protocol import Partitions, write_assignment, write_partitions
from ..protocol.group_metadata import GroupMetadata, MemberMetadata
from ..protocol.offsets_log import (
    NO_TOPIC_ID,
    WITH_EPOCH,
    WITH_MEMBER,
    Commit,
    CommitKey,
    GroupKey,
    GroupState,
    MemberKey,
    OtherKey,
)
from ..protocol.primitives import write_bytes, write_string

_CLASSIC: Final = 2
_COMMITS: Final = (0, 1)
_NONE: Final = -1
_DELETED: Final = "<DELETE>"
_COMMIT: Final = re.compile(
    r"offset_commit::group=(?P<group>.*),partition=(?P<topic>[\w.-]+)-(?P<partition>\d+)"
)
_OLD_COMMIT: Final = re.compile(r"offset::(?P<group>.*):(?P<topic>[^:]+):(?P<partition>\d+)")
_OFFSET: Final = re.compile(r"(?:offset=)?(?P<offset>\d+)(?:(?:,metadata=|:)(?P<metadata>.*))?")
_OLD_GROUP: Final = re.compile(r"metadata::(?P<group>.*)")
_GENERATION: Final = re.compile(r"[^:]*:[^:]*:(?P<generation>\d+):\{(?P<assignment>.*)\}")
_GROUP: Final = re.compile(r'group_metadata::group=(?P<group>.*)|\{"metadata":"(?P<old>.*)"\}')

Key = CommitKey | GroupKey | MemberKey | OtherKey
Value = Commit | GroupMetadata | GroupState


class Entry(NamedTuple):
    """A record; `value` is None if it is `deleted`, and if only the key is read. A text does not say a
    group's members, only whether it has any: then `value` is a GroupState. `version` is that of the value, if
    the tool says it."""

    key: Key
    value: Value | None
    version: int | None = None
    deleted: bool = False


def of_dump(key: str, value: str | None) -> Entry | None:
    """What `kafka-dump-log` prints for a key and its payload; None for another topic's record.

    KeyError, TypeError, AttributeError or ValueError if it is malformed.
    """
    deleted = value in (None, _DELETED)
    if key.startswith('{"type":'):
        return of_json(read_json(key), None if deleted else read_json(value or ""))
    if found := _COMMIT.fullmatch(key) or _OLD_COMMIT.fullmatch(key):
        commit_key = CommitKey(found["group"], found["topic"], int(found["partition"]))
        offset = _OFFSET.fullmatch(value or "")
        if deleted or offset is None:
            return Entry(commit_key, None, deleted=True)
        return Entry(commit_key, Commit(int(offset["offset"]), _NONE, offset["metadata"] or "", _NONE))
    if found := _GROUP.fullmatch(key):
        group_key = GroupKey(found["group"] or found["old"], "classic")
        if deleted:
            return Entry(group_key, None, deleted=True)
        said = read_json(value or "")
        some = said.get("assignment") not in ("{}", None)
        return Entry(group_key, GroupState(int(said["generationId"]), int(some), _NONE))
    if (found := _OLD_GROUP.fullmatch(key)) and (state := _GENERATION.fullmatch(value or "")):
        generation, some = int(state["generation"]), bool(state["assignment"])
        return Entry(GroupKey(found["group"], "classic"), GroupState(generation, int(some), _NONE))
    return None


def of_json(key: Mapping[str, Any], value: Mapping[str, Any] | None) -> Entry | None:
    """None for a record of `__transaction_state`, and for a null key.

    KeyError, TypeError, AttributeError or ValueError if it is malformed.
    """
    data = key["data"]
    if is_transaction(key):
        return None
    number = int(key["type"] if "type" in key else key["version"])
    if value is None:
        return Entry(_key(number, data), None, deleted=True)
    said, version = value["data"], int(value["version"])
    if number in _COMMITS:
        return Entry(_key(number, data), _commit(said), version)
    if number == _CLASSIC:
        return Entry(_key(number, data), _group(said), version)
    state = GroupState(int(said["epoch"]), _NONE, _NONE) if number in WITH_EPOCH else None
    return Entry(_key(number, data), state, version)


def _key(number: int, data: Mapping[str, Any]) -> Key:
    if number in _COMMITS:
        return CommitKey(data["group"], data["topic"], int(data["partition"]))
    if number == _CLASSIC:
        return GroupKey(data["group"], "classic")
    if number in WITH_EPOCH:
        return GroupKey(data["groupId"], WITH_EPOCH[number])
    if number in WITH_MEMBER:
        return MemberKey(data["groupId"], WITH_MEMBER[number], data["memberId"])
    return OtherKey(number)


def is_transaction(key: Mapping[str, Any]) -> bool:
    """Whether it is the key of a record of `__transaction_state`."""
    return "transactionalId" in key["data"]


def _commit(said: Mapping[str, Any]) -> Commit:
    topic_id = said.get("topicId")
    return Commit(
        int(said["offset"]),
        int(said.get("leaderEpoch", _NONE)),
        said.get("metadata") or "",
        int(said["commitTimestamp"]),
        int(said.get("expireTimestamp", _NONE)),
        _topic_id(topic_id) if topic_id else NO_TOPIC_ID,
    )


def _topic_id(text: str) -> bytes:
    """A topic id as Kafka prints it (`Uuid.toString`)."""
    return uuid.UUID(bytes=base64.urlsafe_b64decode(text + "==")).bytes


def _group(said: Mapping[str, Any]) -> GroupMetadata:
    return GroupMetadata(
        said["protocolType"],
        int(said["generation"]),
        said["protocol"],
        said["leader"],
        int(said.get("currentStateTimestamp", _NONE)),
        [_member(each) for each in said.get("members", ())],
    )


def _member(said: Mapping[str, Any]) -> MemberMetadata:
    session_ms = int(said["sessionTimeout"])
    return MemberMetadata(
        said["memberId"],
        said.get("groupInstanceId"),
        said["clientId"],
        said["clientHost"],
        int(said.get("rebalanceTimeout", session_ms)),
        session_ms,
        _bytes(said["subscription"]),
        _bytes(said["assignment"]),
    )


def _bytes(said: str | Mapping[str, Any]) -> bytes:
    """What 4.x's dump shows as an object, or others in base 64."""
    if isinstance(said, str):
        return base64.b64decode(said, validate=True)
    return _subscription(said) if "topics" in said else _assignment(said)


_TO_VERSION: Final = ("ownedPartitions", "generationId", "rackId")
"""The fields that versions 1 to 3 of a subscription added (`ConsumerProtocolSubscription.json`)."""


def _subscription(said: Mapping[str, Any]) -> bytes:
    version = sum(name in said for name in _TO_VERSION)
    out = bytearray(struct.pack(">hi", version, len(said["topics"])))
    for topic in said["topics"]:
        write_string(out, topic)
    write_bytes(out, _user_data(said))
    if version >= 1:
        write_partitions(out, _partitions(said["ownedPartitions"]))
    if version >= 2:
        out += struct.pack(">i", said["generationId"])
    if version >= 3:
        write_string(out, said["rackId"])
    return bytes(out)


def _assignment(said: Mapping[str, Any]) -> bytes:
    """Version 0; later ones have no other fields (`ConsumerProtocolAssignment.json`)."""
    return write_assignment(_partitions(said["assignedPartitions"]), 0, _user_data(said))


def _partitions(said: Iterable[Mapping[str, Any]]) -> Partitions:
    return [(each["topic"], each["partitions"]) for each in said]


def _user_data(said: Mapping[str, Any]) -> bytes | None:
    data = said["userData"]
    return None if data is None else base64.b64decode(data, validate=True)
