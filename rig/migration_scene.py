"""Members of the classic protocol that subscribe to topics, for questions about groups with members of both
protocols."""

import struct
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..protocol.primitives import write_string
from .group_scene import Member
from .scene import Scene

NO_USER_DATA: Final = b"\xff\xff\xff\xff"
Partitions = Mapping[str, Sequence[int]]


def subscription(topics: Sequence[str], owned: Partitions, *, user_data: bytes = NO_USER_DATA) -> bytes:
    """ConsumerProtocolSubscription v1."""
    data = bytearray(struct.pack(">hi", 1, len(topics)))
    for topic in topics:
        write_string(data, topic)
    return bytes(data) + user_data + _partitions(owned)


def assignment(partitions: Partitions, *, user_data: bytes = NO_USER_DATA) -> bytes:
    """ConsumerProtocolAssignment v1."""
    return struct.pack(">h", 1) + _partitions(partitions) + user_data


def _partitions(given: Partitions) -> bytes:
    data = bytearray(struct.pack(">i", len(given)))
    for topic, indexes in given.items():
        write_string(data, topic)
        data += struct.pack(f">i{len(indexes)}i", len(indexes), *indexes)
    return bytes(data)


def read_assignment(data: bytes) -> dict[str, Any]:
    """Its version, the partitions of each topic, and the bytes after them."""
    version, count = struct.unpack_from(">hi", data)
    at, found = 6, []
    for _ in range(count):
        (size,) = struct.unpack_from(">h", data, at)
        name = data[at + 2 : at + 2 + size].decode()
        at += 2 + size
        (indexes,) = struct.unpack_from(">i", data, at)
        found.append({"topic": name, "partitions": list(struct.unpack_from(f">{indexes}i", data, at + 4))})
        at += 4 + 4 * indexes
    return {"version": version, "topics": found, "rest": data[at:].hex()}


class ClassicMember(Member):
    """Subscribes to topics; `owned` is what it was given last."""

    def __init__(self, s: Scene, group: str, topics: Sequence[str], *, instance: str | None = None) -> None:
        super().__init__(s, group, instance=instance)
        self.topics, self.owned = list(topics), dict[str, list[int]]()

    def join_fields(self, **more: Any) -> dict[str, Any]:
        metadata = subscription(self.topics, self.owned)
        protocols = [{"name": name, "metadata": metadata} for name in ("range", "roundrobin")]
        return super().join_fields(**{"protocols": protocols, **more})

    def synced(self, **more: Any) -> Any:
        """SyncGroup, with the assignment read; remembers it."""
        answer = self.sync(**more)
        if answer["error_code"] == "NONE" and answer["assignment"]:
            read = read_assignment(answer["assignment"])
            self.owned = {each["topic"]: each["partitions"] for each in read["topics"]}
            return {**answer, "assignment": read}
        return answer

    def catch_up(self) -> None:
        """Joins and syncs for as long as heartbeats say so."""
        for _ in range(10):
            if self.heartbeat()["error_code"] == "NONE":
                return
            self.join()
            self.synced()
        raise AssertionError("the member is told to join again for ever")


def classic_group(
    s: Scene, group: str, topics: Sequence[str], given: Partitions, **more: Any
) -> ClassicMember:
    """A group of one synced member with this assignment."""
    member = ClassicMember(s, group, topics)
    joined = member.join()
    if joined["error_code"] != "NONE":
        raise AssertionError(f"join: {joined}")
    member.owned = {topic: list(indexes) for topic, indexes in given.items()}
    member.sync({member.id: assignment(given)})
    return member
