"""Metadata records, with KRaft's names and fields (`metadata/src/main/resources/common/metadata`).

They are also written for releases with ZooKeeper, whose controller told brokers the same in LeaderAndIsr,
UpdateMetadata and StopReplica.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple
from uuid import UUID

from ..acls import Acl

NO_LEADER: Final = -1
NO_CONTROLLER: Final = -1
RECOVERING: Final = 1


class RegisterBrokerRecord(NamedTuple):
    """A broker has registered."""

    broker_id: int
    rack: str | None
    fenced: bool = False


class BrokerRegistrationChangeRecord(NamedTuple):
    """The controller considers a broker gone (`fenced`), or back."""

    broker_id: int
    fenced: bool


class UnregisterBrokerRecord(NamedTuple):
    """The controller forgets a broker."""

    broker_id: int


class ActiveControllerRecord(NamedTuple):
    """Which broker is the controller, or NO_CONTROLLER: with ZooKeeper, UpdateMetadata told brokers."""

    broker_id: int


class FeatureLevelRecord(NamedTuple):
    """The finalized level of a feature; 0 if it is turned off."""

    name: str
    feature_level: int


class TopicRecord(NamedTuple):
    """A topic is created; its partitions follow."""

    name: str
    topic_id: UUID


class ConfigRecord(NamedTuple):
    """One value of a topic's own configuration; None when it is set no more."""

    resource_name: str
    name: str
    value: str | None


Entity = tuple[tuple[str, str | None], ...]
"""Whom a client quota is for: names by type (`user`, `client-id`, `ip`), in order of types; None for the
default of a type."""


class ClientQuotaRecord(NamedTuple):
    """One value of an entity's quotas; None when it is set no more."""

    entity: Entity
    key: str
    value: float | None


class UserScramCredentialRecord(NamedTuple):
    """What a user can log in with by one SCRAM mechanism: 1 is SCRAM-SHA-256, 2 is SCRAM-SHA-512."""

    name: str
    mechanism: int
    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int


class RemoveUserScramCredentialRecord(NamedTuple):
    """A user can log in by that mechanism no more."""

    name: str
    mechanism: int


class AccessControlEntryRecord(NamedTuple):
    """An ACL that was not there."""

    acl: Acl


class RemoveAccessControlEntryRecord(NamedTuple):
    """An ACL that was there; KRaft names it by an id."""

    acl: Acl


class DelegationTokenRecord(NamedTuple):
    """A delegation token as it is from now on; principals are texts such as `User:alice`, timestamps Unix
    times in ms."""

    owner: str
    requester: str
    renewers: Sequence[str]
    issue_timestamp: int
    max_timestamp: int
    expiration_timestamp: int
    token_id: str


class RemoveDelegationTokenRecord(NamedTuple):
    """A delegation token that is no more."""

    token_id: str


class RemoveTopicRecord(NamedTuple):
    """A topic is deleted, with its partitions."""

    topic_id: UUID


class PartitionRecord(NamedTuple):
    """A partition is created: the next one of its topic."""

    topic_id: UUID
    partition_id: int
    replicas: Sequence[int]
    isr: Sequence[int]
    leader: int
    leader_epoch: int = 0


class PartitionChangeRecord(NamedTuple):
    """What changes in a partition; None for what stays. A `leader`, even if it stays the same, begins the
    next leader epoch."""

    topic_id: UUID
    partition_id: int
    isr: Sequence[int] | None = None
    leader: int | None = None
    replicas: Sequence[int] | None = None
    removing_replicas: Sequence[int] | None = None
    adding_replicas: Sequence[int] | None = None
    eligible_leader_replicas: Sequence[int] | None = None
    last_known_elr: Sequence[int] | None = None
    leader_recovery_state: int | None = None
    """RECOVERING if the election of the leader was unclean (KIP-704)."""


Record = (
    RegisterBrokerRecord
    | BrokerRegistrationChangeRecord
    | UnregisterBrokerRecord
    | ActiveControllerRecord
    | FeatureLevelRecord
    | TopicRecord
    | ConfigRecord
    | ClientQuotaRecord
    | UserScramCredentialRecord
    | RemoveUserScramCredentialRecord
    | AccessControlEntryRecord
    | RemoveAccessControlEntryRecord
    | DelegationTokenRecord
    | RemoveDelegationTokenRecord
    | RemoveTopicRecord
    | PartitionRecord
    | PartitionChangeRecord
)
