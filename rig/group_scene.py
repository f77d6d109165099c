"""Members of a classic consumer group, for questions about it."""

from collections.abc import Mapping
from typing import Any, Final

from .client import Client, Pending
from .scene import Scene

SUBSCRIPTION: Final = b"\0\0\0\0\0\0\xff\xff\xff\xff"
"""A consumer's subscription to nothing, v0."""


def subscription(*topics: str) -> bytes:
    """ConsumerProtocolSubscription v0 to `topics`."""
    data = b"\0\0" + len(topics).to_bytes(4, "big")
    for topic in topics:
        data += len(topic.encode()).to_bytes(2, "big") + topic.encode()
    return data + b"\xff\xff\xff\xff"


class Member:
    """One member with its own connection; the API in question is called in its version."""

    def __init__(
        self, s: Scene, group: str, *, instance: str | None = None, client_id: str = "member"
    ) -> None:
        self._s, self.group, self.instance = s, group, instance
        self.client = s.new_client(client_id)
        self.id, self.generation = "", -1
        self.protocol_type, self.protocol_name = "consumer", "range"

    def _version(self, api: str) -> int:
        return self._s.version if api == self._s.api else self._s.target.newest(api)

    def call(self, api: str, fields: Mapping[str, Any]) -> Any:
        """Calls `api` for this group on the member's connection."""
        asked = {"group_id": self.group, **fields}
        return self._s.call(api, asked, version=self._version(api), client=self.client)

    def join_fields(self, **more: Any) -> dict[str, Any]:
        """A JoinGroup request of a consumer."""
        self.protocol_type = more.get("protocol_type", self.protocol_type)
        return {
            "group_id": self.group,
            "session_timeout": 30_000,
            "rebalance_timeout": 60_000,
            "member_id": self.id,
            "group_instance_id": self.instance,
            "protocol_type": self.protocol_type,
            "protocols": [{"name": "range", "metadata": SUBSCRIPTION}],
            "reason": None,
            **more,
        }

    def try_join(self, **more: Any) -> Any:
        """One JoinGroup request; remembers what the answer says."""
        return self._joined(self.call("join_group", self.join_fields(**more)))

    def join(self, **more: Any) -> Any:
        """JoinGroup, again with the member id when one is required (KIP-394)."""
        answer = self.try_join(**more)
        return self.try_join(**more) if answer["error_code"] == "MEMBER_ID_REQUIRED" else answer

    def send_join(self, **more: Any) -> Pending:
        """Send a JoinGroup request that will wait for others."""
        version = self._version("join_group")
        if not self.id and self.instance is None and version >= 4:
            self.try_join(**more)
        return self.client.send("join_group", version, self.join_fields(**more))

    def joined(self, pending: Pending) -> Any:
        """The answer to `send_join`."""
        return self._joined(self._s.receive(pending, client=self.client))

    def _joined(self, answer: Any) -> Any:
        if isinstance(answer, dict):
            self.id = answer["member_id"] or self.id
            self._s.normaliser.name_member(self.id)
            if answer["error_code"] == "NONE":
                self.generation = answer["generation_id"]
                self.protocol_name = answer["protocol_name"]
        return answer

    def sync_fields(self, assignments: Mapping[str, bytes] | None = None, **more: Any) -> dict[str, Any]:
        """A SyncGroup request; `assignments` by member id."""
        given = [{"member_id": key, "assignment": value} for key, value in (assignments or {}).items()]
        return {
            "group_id": self.group,
            "generation_id": self.generation,
            "member_id": self.id,
            "group_instance_id": self.instance,
            "protocol_type": self.protocol_type,
            "protocol_name": self.protocol_name,
            "assignments": given,
            **more,
        }

    def sync(self, assignments: Mapping[str, bytes] | None = None, **more: Any) -> Any:
        return self.call("sync_group", self.sync_fields(assignments, **more))

    def heartbeat(self, **more: Any) -> Any:
        fields = {"generation_id": self.generation, "member_id": self.id, "group_instance_id": self.instance}
        return self.call("heartbeat", {**fields, **more})

    def leave(self, **more: Any) -> Any:
        identity = {"member_id": self.id, "group_instance_id": self.instance, "reason": None}
        return self.call("leave_group", {"member_id": self.id, "members": [identity], **more})

    def commit(self, topic: str, offset: int = 1, partition: int = 0, **more: Any) -> Any:
        fields = {
            "generation_id_or_member_epoch": self.generation,
            "member_id": self.id,
            "group_instance_id": self.instance,
        }
        return self.call(
            "offset_commit", {**commit_fields(self._s, topic, offset, partition), **fields, **more}
        )


def commit_fields(
    s: Scene, topic: str, offset: int = 1, partition: int = 0, *, metadata: str | None = "", epoch: int = -1
) -> dict[str, Any]:
    """An OffsetCommit request from outside of the group, for one partition."""
    part = {
        "partition_index": partition,
        "committed_offset": offset,
        "committed_leader_epoch": epoch,
        "committed_metadata": metadata,
    }
    return {
        "generation_id_or_member_epoch": -1,
        "member_id": "",
        "group_instance_id": None,
        "retention_time": -1,
        "topics": [{**s.topic_ref(topic), "partitions": [part]}],
    }


def commit(s: Scene, group: str, topic: str, offset: int = 1, partition: int = 0) -> None:
    """Commit an offset without being a member."""
    answer = s.call("offset_commit", {"group_id": group, **commit_fields(s, topic, offset, partition)})
    code = answer["topics"][0]["partitions"][0]["error_code"]
    if code != "NONE":
        raise AssertionError(f"offset commit: {code}")


def not_coordinating(s: Scene, group: str) -> Client:
    """A connection to one of three brokers that does not coordinate the group."""
    found = s.call("find_coordinator", {"key_type": 0, "coordinator_keys": [group]})
    coordinator = found["coordinators"][0]["node_id"]
    return s.new_client(broker=next(rank for rank in range(3) if s.node(rank) != coordinator))


def committed(s: Scene, group: str) -> Any:
    """The topics of all offsets that a group has."""
    one = {"group_id": group, "member_epoch": -1, "topics": None}
    found = s.call("offset_fetch", {"groups": [one], "require_stable": False}, version=9)
    return found["groups"][0]["topics"]


def committed_offsets(s: Scene, group: str) -> list[list[int]]:
    """Partitions and their offsets, of all topics."""
    parts = [each for topic in committed(s, group) for each in topic["partitions"]]
    return sorted([each["partition_index"], each["committed_offset"]] for each in parts)


def rebalancing(s: Scene, member: Member) -> None:
    """Wait until `member` is told to join again."""
    seen: list[str] = []

    def told() -> bool:
        seen.append(member.heartbeat()["error_code"])
        return seen[-1] == "REBALANCE_IN_PROGRESS"

    try:
        s.until(told)
    except TimeoutError as error:
        raise TimeoutError(f"no rebalance; heartbeats were {sorted(set(seen))}") from error


def _done(answer: Any, what: str) -> None:
    if answer["error_code"] != "NONE":
        raise AssertionError(f"{what}: {answer}")


def stable(s: Scene, group: str, *, instance: str | None = None, **join: Any) -> Member:
    """A group of one synced member."""
    member = Member(s, group, instance=instance)
    _done(member.join(**join), "join")
    _done(member.sync({member.id: b"assigned"}), "sync")
    return member


def joining(s: Scene, leader: Member, *, instance: str | None = None, **join: Any) -> tuple[Member, Pending]:
    """Another member, whose JoinGroup waits for that of the only one that there is."""
    other = Member(s, leader.group, instance=instance)
    pending = other.send_join(**join)
    rebalancing(s, leader)
    return other, pending


def completing(s: Scene, leader: Member) -> Member:
    """Another member: both have joined, and neither is synced."""
    other, pending = joining(s, leader)
    _done(leader.join(), "the leader's join")
    _done(other.joined(pending), "the other's join")
    return other


def stable_pair(s: Scene, group: str) -> tuple[Member, Member]:
    """A group of two synced members; the first leads."""
    leader = stable(s, group)
    other = completing(s, leader)
    _done(leader.sync({leader.id: b"to the leader", other.id: b"to the other"}), "the leader's sync")
    _done(other.sync(), "the other's sync")
    return leader, other
