"""The cluster as its metadata records describe it (`MetadataImage.java`)."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple
from uuid import UUID

from ..acls import AclTable
from .records import (
    NO_CONTROLLER,
    AccessControlEntryRecord,
    ActiveControllerRecord,
    BrokerRegistrationChangeRecord,
    ClientQuotaRecord,
    ConfigRecord,
    DelegationTokenRecord,
    Entity,
    FeatureLevelRecord,
    PartitionChangeRecord,
    PartitionRecord,
    Record,
    RegisterBrokerRecord,
    RemoveAccessControlEntryRecord,
    RemoveDelegationTokenRecord,
    RemoveTopicRecord,
    RemoveUserScramCredentialRecord,
    TopicRecord,
    UnregisterBrokerRecord,
    UserScramCredentialRecord,
)


class BrokerRegistration(NamedTuple):
    """A broker as the controller knows it; `fenced` if the controller considers it gone."""

    id: int
    rack: str | None
    fenced: bool


class PartitionRegistration(NamedTuple):
    """A partition as the controller knows it (`PartitionRegistration.java`). Its lists never change, because
    answers that are not encoded yet refer to them."""

    replicas: Sequence[int]
    isr: Sequence[int]
    leader: int
    leader_epoch: int
    partition_epoch: int = 0
    removing_replicas: Sequence[int] = ()
    adding_replicas: Sequence[int] = ()
    eligible_leader_replicas: Sequence[int] = ()
    last_known_elr: Sequence[int] = ()

    def merge(self, change: PartitionChangeRecord) -> "PartitionRegistration":
        """This registration with a record's changes."""
        elects = change.leader is not None
        return PartitionRegistration(
            self.replicas if change.replicas is None else change.replicas,
            self.isr if change.isr is None else change.isr,
            self.leader if change.leader is None else change.leader,
            self.leader_epoch + elects,
            self.partition_epoch + 1,
            self.removing_replicas if change.removing_replicas is None else change.removing_replicas,
            self.adding_replicas if change.adding_replicas is None else change.adding_replicas,
            self.eligible_leader_replicas
            if change.eligible_leader_replicas is None
            else change.eligible_leader_replicas,
            self.last_known_elr if change.last_known_elr is None else change.last_known_elr,
        )


NO_OVERRIDES: Final[Mapping[str, str]] = {}


class TopicImage:
    """A topic; `overrides` is its own configuration, a mapping that never changes. `most_partitions` is how
    many the controller's hash table has made room for (`controller/timeline_map.py`). `hashes` are those that
    group coordinators made of it, by which racks count.

    Only the image that owns it changes it; others replace it by a copy first.
    """

    __slots__ = ("hashes", "id", "most_partitions", "name", "overrides", "owner", "partitions")

    def __init__(
        self,
        owner: object,
        name: str,
        topic_id: UUID,
        partitions: list[PartitionRegistration],
        overrides: Mapping[str, str] = NO_OVERRIDES,
    ) -> None:
        self.owner = owner
        self.name = name
        self.id = topic_id
        self.partitions = partitions
        self.overrides = overrides
        self.most_partitions = len(partitions)
        self.hashes: dict[str, int] = {}

    def configure(self, name: str, value: str | None) -> None:
        """Sets one value, or with None takes it away."""
        overrides = {**self.overrides, name: value}
        self.overrides = {each: text for each, text in overrides.items() if text is not None}


class MetadataImage:
    """Brokers by id, topics by name and by id, in the order of their creation.

    A `snapshot` shares topics with the image until one of the two changes them.
    """

    def __init__(self) -> None:
        self.brokers: dict[int, BrokerRegistration] = {}
        self.topics: dict[str, TopicImage] = {}
        self.topic_ids: dict[UUID, TopicImage] = {}
        self.client_quotas: dict[Entity, Mapping[str, float]] = {}
        """Those that are set, by entity; the inner mappings never change."""
        self.scram_credentials: dict[str, Mapping[int, UserScramCredentialRecord]] = {}
        """By user and mechanism; the inner mappings never change."""
        self.delegation_tokens: dict[str, DelegationTokenRecord] = {}
        """By id."""
        self.acls = AclTable()
        self.features: dict[str, int] = {}
        """Finalized levels, by name; features that are turned off are left out (KIP-584)."""
        self.offset = 0
        """How many records it is made of."""
        self.controller = NO_CONTROLLER
        self.controller_epoch = 0
        """How many controllers there have been."""
        self.most_topics = 0
        """How many the controller's hash table has made room for."""
        self._owner = object()
        self._shares_acls = False
        """Whether another image has the same table of ACLs."""

    def snapshot(self) -> "MetadataImage":
        """The present image, which changes independently from now on."""
        copy = MetadataImage()
        copy.brokers = dict(self.brokers)
        copy.topics = dict(self.topics)
        copy.topic_ids = dict(self.topic_ids)
        copy.client_quotas = dict(self.client_quotas)
        copy.scram_credentials = dict(self.scram_credentials)
        copy.delegation_tokens = dict(self.delegation_tokens)
        copy.acls, copy._shares_acls, self._shares_acls = self.acls, True, True
        copy.features, copy.offset = dict(self.features), self.offset
        copy.controller, copy.controller_epoch = self.controller, self.controller_epoch
        self._owner = object()
        return copy

    def is_fenced(self, broker: int) -> bool:
        """Whether a broker is considered gone, or is not registered."""
        found = self.brokers.get(broker)
        return found is None or found.fenced

    def partition(self, topic_id: UUID, index: int) -> PartitionRegistration | None:
        topic = self.topic_ids.get(topic_id)
        return None if topic is None or index >= len(topic.partitions) else topic.partitions[index]

    def registered(self, topic_id: UUID, index: int) -> PartitionRegistration:
        """An existing partition. KeyError, IndexError."""
        return self.topic_ids[topic_id].partitions[index]

    def apply(self, record: Record) -> None:
        """Applies the next record."""
        self.offset += 1
        match record:
            case PartitionChangeRecord():
                changing = self._changing(record.topic_id)
                partitions = changing.partitions
                partitions[record.partition_id] = partitions[record.partition_id].merge(record)
                if record.replicas is not None:
                    changing.hashes = {}
                # A table makes room for one more even if a key that it has gets another value.
                if changing.most_partitions <= len(partitions):
                    changing.most_partitions = len(partitions) + 1
            case PartitionRecord(topic_id, _, replicas, isr, leader, leader_epoch):
                registration = PartitionRegistration(replicas, isr, leader, leader_epoch)
                changing = self._changing(topic_id)
                changing.partitions.append(registration)
                changing.hashes = {}
                changing.most_partitions = max(changing.most_partitions, len(changing.partitions))
            case TopicRecord(name, topic_id):
                self.topics[name] = self.topic_ids[topic_id] = TopicImage(self._owner, name, topic_id, [])
                self.most_topics = max(self.most_topics, len(self.topics))
            case ConfigRecord(topic, name, value):
                self._changing(self.topics[topic].id).configure(name, value)
            case ClientQuotaRecord(entity, key, rate):
                values = {**self.client_quotas.pop(entity, {}), key: rate}
                if left := {each: set_to for each, set_to in values.items() if set_to is not None}:
                    self.client_quotas[entity] = left
            case UserScramCredentialRecord(name, mechanism):
                credentials = self.scram_credentials.get(name, {})
                self.scram_credentials[name] = {**credentials, mechanism: record}
            case RemoveUserScramCredentialRecord(name, mechanism):
                credentials = dict(self.scram_credentials.pop(name))
                del credentials[mechanism]
                if credentials:
                    self.scram_credentials[name] = credentials
            case AccessControlEntryRecord(acl):
                self._own_acls().add(acl)
            case RemoveAccessControlEntryRecord(acl):
                self._own_acls().remove(acl)
            case DelegationTokenRecord():
                self.delegation_tokens[record.token_id] = record
            case RemoveDelegationTokenRecord(token_id):
                del self.delegation_tokens[token_id]
            case RemoveTopicRecord(topic_id):
                del self.topics[self.topic_ids.pop(topic_id).name]
            case RegisterBrokerRecord(broker_id, rack, fenced):
                self.brokers[broker_id] = BrokerRegistration(broker_id, rack, fenced)
            case BrokerRegistrationChangeRecord(broker_id, fenced):
                self.brokers[broker_id] = BrokerRegistration(broker_id, self.brokers[broker_id].rack, fenced)
            case UnregisterBrokerRecord(broker_id):
                del self.brokers[broker_id]
            case FeatureLevelRecord(name, level):
                self.features[name] = level
                if not level:
                    del self.features[name]
            case ActiveControllerRecord(broker_id):
                self.controller = broker_id
                self.controller_epoch += broker_id != NO_CONTROLLER

    def _own_acls(self) -> AclTable:
        if self._shares_acls:
            self.acls, self._shares_acls = self.acls.copy(), False
        return self.acls

    def _changing(self, topic_id: UUID) -> TopicImage:
        topic = self.topic_ids[topic_id]
        if topic.owner is not self._owner:
            before = topic
            topic = TopicImage(self._owner, before.name, topic_id, list(before.partitions), before.overrides)
            topic.most_partitions, topic.hashes = before.most_partitions, before.hashes
            self.topics[topic.name] = self.topic_ids[topic_id] = topic
        return topic
