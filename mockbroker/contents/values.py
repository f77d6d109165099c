"""What a cluster holds, as frozen values with the names of Kafka's admin tools. Times are Unix times in
ms."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

IsolationLevel = Literal["read_uncommitted", "read_committed"]
TimestampType = Literal["CreateTime", "LogAppendTime"]
TransactionOutcome = Literal["ongoing", "committed", "aborted"]
ControlType = Literal["commit", "abort"]


class TopicPartition(NamedTuple):
    """A topic's name and the index of one of its partitions; equal to the plain tuple."""

    topic: str
    partition: int


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a partition's log.

    `leader_epoch` is that of the leader that appended it. `producer_id`, `producer_epoch` and `sequence` are
    None unless the producer is idempotent. `transaction` is None outside of transactions; `transactional_id`
    is None there too, and if no coordinator knows the producer id. `control` means that this is not a
    client's record but a transaction marker. `timestamp_ms` is -1 if the producer gave none. `size` is what
    the record takes in its batch, in bytes before compression; `compression` is its batch's: none, gzip,
    snappy, lz4 or zstd.
    """

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]
    timestamp_ms: int
    timestamp_type: TimestampType
    leader_epoch: int
    producer_id: int | None = None
    producer_epoch: int | None = None
    sequence: int | None = None
    transactional_id: str | None = None
    transaction: TransactionOutcome | None = None
    control: ControlType | None = None
    size: int = field(default=0, compare=False)
    compression: str = field(default="none", compare=False)


@dataclass(frozen=True, slots=True)
class CommittedOffset:
    """A group's committed offset for a partition. `leader_epoch` is None if the client gave none (KIP-320);
    `expire_ms` is None unless the client set a retention time, which is possible up to OffsetCommit v4."""

    offset: int
    leader_epoch: int | None
    metadata: str
    commit_ms: int
    expire_ms: int | None = None


@dataclass(frozen=True, slots=True)
class MemberDescription:
    """A member of a group; `host` is its address as Kafka shows it (`/127.0.0.1`).

    `assignment` are its partitions in order, as last assigned, and `subscription` the topics that it asked
    for. Both are None if the group's protocol type is not `consumer`, or if the bytes can't be read:
    `assignment_data` has the bytes as the group's leader sent them.

    `type` is the protocol that it uses: `classic`, `consumer`, `share` or `streams`; a consumer group may
    have members of the first two.
    `epoch` is None in classic groups. `active_tasks` and `standby_tasks` are those of a member of a streams
    group (KIP-1071), as `0_1` for partition 1 of subtopology 0; None in other groups.
    """

    member_id: str
    group_instance_id: str | None
    client_id: str
    host: str
    assignment: tuple[TopicPartition, ...] | None
    assignment_data: bytes
    subscription: tuple[str, ...] | None
    session_timeout_ms: int
    rebalance_timeout_ms: int
    type: str = "classic"
    epoch: int | None = None
    active_tasks: tuple[str, ...] | None = None
    standby_tasks: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class GroupDescription:
    """A group. `state` is Empty, PreparingRebalance, CompletingRebalance or Stable; that of a group of
    `type` consumer (KIP-848) is Empty, Assigning, Reconciling or Stable.

    `protocol_type` is `consumer` for consumers, `connect` for Kafka Connect, None for a group that only
    commits; `protocol` is the assignor that was chosen. `generation` is a consumer group's epoch. `leader` is
    a member's id; consumer groups have none. `coordinator` is a broker's id, None if there is none.
    """

    group_id: str
    state: str
    coordinator: int | None
    protocol_type: str | None
    protocol: str | None
    generation: int
    leader: str | None
    members: tuple[MemberDescription, ...]
    type: str = "classic"


@dataclass(frozen=True, slots=True)
class SharedRecords:
    """Records of a share group, from offset `first` to `last`, of which the same is known (KIP-932).

    `state` is available, acquired, acknowledged or archived; `deliveries` is how often they were delivered.
    Acquired ones are locked for the member with the id `member` until `locked_until_ms`; both are None for
    others.
    """

    first: int
    last: int
    state: str
    deliveries: int
    member: str | None = None
    locked_until_ms: int | None = None


@dataclass(frozen=True, slots=True)
class SharePartitionDescription:
    """What a share group has of a partition. Everything below `start_offset` is done; it is None until the
    group has read from the partition. `in_flight` are the records from there on of which a state is known, in
    order; those after them were not delivered. `high_watermark` is the partition's."""

    start_offset: int | None
    high_watermark: int
    in_flight: tuple[SharedRecords, ...]


@dataclass(frozen=True, slots=True)
class TransactionDescription:
    """The coordinator's state of a transactional id (`kafka-transactions.sh describe`).

    `state` is Empty, Ongoing, PrepareCommit, PrepareAbort, CompleteCommit or CompleteAbort; `start_ms` is
    None if no transaction has begun. `partitions` are those of the present transaction, in order.
    """

    transactional_id: str
    state: str
    coordinator: int | None
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    start_ms: int | None
    last_update_ms: int
    partitions: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True)
class TelemetryClient:
    """A client that asked a broker which metrics to push (KIP-714), as this broker knows it.

    `requested_metrics` are prefixes of names, `*` for all. `pushes` counts pushes with metrics, and
    `pushed_bytes` their bytes, compressed. `last_push` is what came last, decompressed: an OpenTelemetry
    `MetricsData`, empty if it is larger than 64 KiB. `terminating` is whether the client said that it would
    push no more.
    """

    client_instance_id: str
    client_id: str
    software_name: str
    software_version: str
    broker: int
    subscription_id: int
    requested_metrics: tuple[str, ...]
    push_interval_ms: int
    pushes: int
    pushed_bytes: int
    last_push: bytes = field(repr=False)
    terminating: bool


@dataclass(frozen=True, slots=True)
class PartitionDescription:
    """A partition as the controller knows it, with the offsets of its leader, or of the last leader if there
    is none. `leader` is a broker's id, None if there is none. `replicas`, `isr` and the fields after the
    offsets are broker ids: the replicas that a reassignment in progress adds and removes, and those that left
    the ISR and may still lead (KIP-966)."""

    partition: int
    leader: int | None
    leader_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    log_start_offset: int
    log_end_offset: int
    high_watermark: int
    last_stable_offset: int
    adding_replicas: tuple[int, ...] = ()
    removing_replicas: tuple[int, ...] = ()
    eligible_leader_replicas: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TopicDescription:
    """A topic. `topic_id` is as Kafka's tools print it; `configs` has what is set for the topic itself."""

    name: str
    topic_id: str
    internal: bool
    partitions: tuple[PartitionDescription, ...]
    configs: Mapping[str, str] = field(default_factory=dict)

    @property
    def replication_factor(self) -> int:
        """How many replicas its first partition has."""
        return len(self.partitions[0].replicas)
