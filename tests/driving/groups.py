"""A group `g` and its coordinator: what members and admin clients ask, as verbs."""

import struct
from collections.abc import Mapping
from typing import Any, NamedTuple

from mockbroker.controller import elections
from mockbroker.controller.topic_creation import assign_replicas
from mockbroker.coordinators.classic.group import ClassicGroup
from mockbroker.protocol.messages.common import PartitionIndex
from mockbroker.protocol.messages.delete_groups import DeleteGroupsRequest
from mockbroker.protocol.messages.describe_groups import DescribedGroup, DescribeGroupsRequest
from mockbroker.protocol.messages.heartbeat import HeartbeatRequest
from mockbroker.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from mockbroker.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from mockbroker.protocol.messages.list_groups import ListGroupsRequest
from mockbroker.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from mockbroker.protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteRequestTopic
from mockbroker.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from mockbroker.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from mockbroker.replication.states import FollowerState

from .cluster import Asked, ClusterDriver, configured

SESSION_MS = 10_000
REBALANCE_MS = 60_000


def subscription(*topics: str) -> bytes:
    """A consumer's metadata: version 0 of the consumer protocol without user data."""
    names = b"".join(struct.pack(">h", len(t)) + t.encode() for t in topics)
    return struct.pack(">hi", 0, len(topics)) + names + struct.pack(">i", -1)


class Generation(NamedTuple):
    """What a member knows of its group."""

    generation_id: int
    member_id: str


Joined = Asked | Generation
"""A member: its answered JoinGroup, or what that told it."""


class GroupDriver(ClusterDriver):
    """A cluster with the topics `orders` and `payments`, three partitions each; `broker` coordinates."""

    def __init__(
        self,
        kafka: str = "4.4",
        policies: Mapping[str, str] | None = None,
        *,
        brokers: int = 1,
        **config: object,
    ) -> None:
        super().__init__(configured(kafka, brokers, policies, config))
        for topic in ("orders", "payments"):
            self.cluster.create_topic(topic, assign_replicas(self.cluster.controller, 3, 1))
        self.follow_coordinator()

    def follow_coordinator(self) -> None:
        """Asks the broker that coordinates now."""
        coordinator = self.cluster.coordinator("g")
        assert coordinator is not None
        self.broker, self.groups = coordinator, coordinator.groups

    def move_coordinator(self) -> None:
        assert elections.move_leader(self.cluster.offsets_partition("g"))
        self.follow_coordinator()

    def responsible(self) -> int:
        return self.broker.id

    @property
    def others(self) -> set[int]:
        """Brokers that do not coordinate the group."""
        return set(self.cluster.brokers) - {self.broker.id}

    def set_followers(self, state: FollowerState) -> None:
        """Of the partition of `__consumer_offsets` that has the group."""
        for each in self.others:
            self.cluster.offsets_partition("g").set_follower(each, state)

    @property
    def group(self) -> ClassicGroup:
        group = self.groups.groups["g"]
        assert group.type == "classic"
        return group

    @property
    def state(self) -> str:
        return self.group.state.value if "g" in self.groups.groups else "Dead"

    def join(
        self,
        member_id: str = "",
        *,
        version: int = 9,
        instance: str | None = None,
        protocols: dict[str, bytes] | None = None,
        protocol_type: str = "consumer",
        session_ms: int = SESSION_MS,
        rebalance_ms: int = REBALANCE_MS,
        group: str = "g",
        client_id: str = "c",
    ) -> Asked:
        offered = {"range": subscription("orders")} if protocols is None else protocols
        request = JoinGroupRequest(
            group,
            session_ms,
            rebalance_ms,
            member_id,
            instance,
            protocol_type,
            [JoinGroupRequestProtocol(name, metadata) for name, metadata in offered.items()],
        )
        return self.ask(request, version, client_id=client_id)

    def new_id(self, **how: Any) -> str:
        """The id that a new dynamic member is given."""
        asked = self.join(**how)
        assert asked.error_code == 79, asked.response
        return asked.member_id  # type: ignore[no-any-return]

    def enter(self, **how: Any) -> Asked:
        """A new dynamic member joins, in both steps."""
        return self.join(self.new_id(**how), **how)

    def sync(
        self, joined: Joined, assignments: dict[str, bytes] | None = None, *, version: int = 5, **other: Any
    ) -> Asked:
        request = SyncGroupRequest(
            "g",
            joined.generation_id,
            joined.member_id,
            None,
            "consumer" if version >= 5 else None,
            "range" if version >= 5 else None,
            [SyncGroupRequestAssignment(m, a) for m, a in (assignments or {}).items()],
        )
        for name, value in other.items():
            setattr(request, name, value)
        return self.ask(request, version)

    def heartbeat_later(self, joined: Joined, **other: Any) -> Asked:
        request = HeartbeatRequest("g", joined.generation_id, joined.member_id)
        for name, value in other.items():
            setattr(request, name, value)
        return self.ask(request)

    def heartbeat(self, joined: Joined, **other: Any) -> int:
        return self.heartbeat_later(joined, **other).error_code  # type: ignore[no-any-return]

    def leave(self, *members: str | tuple[str, str], version: int = 5) -> Asked:
        """Members by id, or by id and instance id."""
        identities = [MemberIdentity(m) if isinstance(m, str) else MemberIdentity(*m) for m in members]
        return self.ask(LeaveGroupRequest("g", identities), version)

    def stable(self, *instances: str | None, **how: Any) -> list[Asked]:
        """A stable group: one member for each argument, static where an instance id is given."""
        ids: list[str | None] = []
        joins: list[Asked] = []
        for instance in instances:
            ids = [j.member_id for j in joins]
            new = self.enter(**how) if instance is None else self.join(instance=instance, **how)
            again = [self.join(i or "", instance=s, **how) for i, s in zip(ids, instances, strict=False)]
            joins = [*again, new]
        leader = next(j for j in joins if j.leader == j.member_id)
        assignments = {j.member_id: f"a{n}".encode() for n, j in enumerate(joins)}
        synced = [self.sync(j) for j in joins if j is not leader] + [self.sync(leader, assignments)]
        assert [s.error_code for s in synced] == [0] * len(joins)
        assert self.state == "Stable"
        return joins

    def commit_later(
        self,
        offsets: dict[tuple[str, int], int],
        joined: Joined | None = None,
        *,
        version: int = 9,
        **other: Any,
    ) -> Asked:
        """Commits, from outside of the group without `joined`."""
        topics: dict[str, OffsetCommitRequestTopic] = {}
        for (name, index), offset in offsets.items():
            topic = topics.setdefault(name, OffsetCommitRequestTopic(name=name))
            known = self.cluster.topics.get(name)
            topic.topic_id = known.id if known else None
            topic.partitions.append(OffsetCommitRequestPartition(index, offset, 7, other.get("metadata")))
        request = OffsetCommitRequest("g", topics=list(topics.values()))
        if joined is not None:
            request.generation_id_or_member_epoch = joined.generation_id
            request.member_id = joined.member_id
        for name, value in other.items():
            if name != "metadata":
                setattr(request, name, value)
        return self.ask(request, version)

    def commit(
        self, offsets: dict[tuple[str, int], int], joined: Joined | None = None, **how: Any
    ) -> dict[tuple[str, int], int]:
        """As `commit_later`; the errors by topic and partition."""
        response = self.commit_later(offsets, joined, **how)
        return {(t.name, p.partition_index): p.error_code for t in response.topics for p in t.partitions}

    def fetch_later(
        self,
        *keys: tuple[str, int],
        version: int = 9,
        stable: bool = False,
        group: str = "g",
        broker: int | None = None,
    ) -> Asked:
        """Asks what is committed, of all partitions without `keys`."""
        topics: dict[str, OffsetFetchRequestTopics] = {}
        for name, index in keys:
            topics.setdefault(name, OffsetFetchRequestTopics(name=name)).partition_indexes.append(index)
            known = self.cluster.topics.get(name)
            topics[name].topic_id = known.id if known else None
        asked = OffsetFetchRequestGroup(group, topics=list(topics.values()) if keys else None)
        return self.ask(OffsetFetchRequest([asked], stable), version, broker=broker)

    def fetch(self, *keys: tuple[str, int], **how: Any) -> dict[tuple[str, int], Any]:
        """As `fetch_later`; response partitions by topic and partition."""
        (answer,) = self.fetch_later(*keys, **how).groups
        assert answer.error_code == 0
        return {(t.name, p.partition_index): p for t in answer.topics for p in t.partitions}

    def offsets(self) -> dict[tuple[str, int], int]:
        return {key: p.committed_offset for key, p in self.fetch().items()}

    # -- admin clients

    def describe(self, version: int | None = None, *, broker: int | None = None) -> DescribedGroup:
        (group,) = self.ask(DescribeGroupsRequest(["g"]), version, broker=broker).groups
        assert isinstance(group, DescribedGroup)
        return group

    def listed(self, *, broker: int | None = None) -> list[str]:
        return [each.group_id for each in self.ask(ListGroupsRequest(), broker=broker).groups]

    def delete(self, *, broker: int | None = None) -> int:
        """The error code."""
        (result,) = self.ask(DeleteGroupsRequest(["g"]), broker=broker).results
        return result.error_code  # type: ignore[no-any-return]

    def delete_offsets(self, *keys: tuple[str, int], group: str = "g") -> Asked:
        topics = {name: OffsetDeleteRequestTopic(name) for name, _ in keys}
        for name, index in keys:
            topics[name].partitions.append(PartitionIndex(index))
        return self.ask(OffsetDeleteRequest(group, list(topics.values())))


def replicated(
    kafka: str = "4.4", policies: Mapping[str, str] | None = None, *, brokers: int = 3, **config: object
) -> GroupDriver:
    """`__consumer_offsets` has one partition, with a replica on each broker."""
    config = {"offsets_topic_num_partitions": 1, "offsets_topic_replication_factor": brokers, **config}
    return GroupDriver(kafka, policies, brokers=brokers, **config)
