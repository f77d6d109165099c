"""A partition as the controller knows it."""

from collections.abc import Callable, Iterable, Sequence
from uuid import UUID

from ..configs import TopicSettings
from ..environment import Environment
from ..metadata.image import PartitionRegistration
from ..metadata.records import NO_LEADER, PartitionChangeRecord
from ..policies import Policies
from .state import ControllerState, Reasons


class ControlledPartition:
    """A partition, and changes of it. Its fields are those of the newest image."""

    __slots__ = ("index", "state", "topic_id")

    def __init__(self, state: ControllerState, topic_id: UUID, index: int) -> None:
        self.state = state
        self.topic_id = topic_id
        self.index = index

    @property
    def registered(self) -> PartitionRegistration:
        return self.state.image.registered(self.topic_id, self.index)

    @property
    def topic_name(self) -> str:
        return self.state.image.topic_ids[self.topic_id].name

    @property
    def settings(self) -> TopicSettings:
        """The topic's effective configuration."""
        state = self.state
        return state.environment.configs.settings_of(state.image.topic_ids[self.topic_id].overrides)

    @property
    def environment(self) -> Environment:
        return self.state.environment

    @property
    def policies(self) -> Policies:
        """The answers in force for this topic on the leader."""
        policies = self.state.environment.policies
        return policies.at(self.topic_name, self.leader) if policies.scoped else policies

    @property
    def reasons(self) -> Reasons:
        return self.state.reasons

    @property
    def deleted(self) -> bool:
        """Whether its topic was deleted."""
        return self.topic_id not in self.state.image.topic_ids

    # -- what it is now

    @property
    def leader(self) -> int:
        return self.registered.leader

    @property
    def leader_epoch(self) -> int:
        return self.registered.leader_epoch

    @property
    def isr(self) -> Sequence[int]:
        return self.registered.isr

    @property
    def replicas(self) -> Sequence[int]:
        return self.registered.replicas

    @property
    def adding_replicas(self) -> Sequence[int]:
        return self.registered.adding_replicas

    @property
    def removing_replicas(self) -> Sequence[int]:
        return self.registered.removing_replicas

    @property
    def eligible_leader_replicas(self) -> Sequence[int]:
        return self.registered.eligible_leader_replicas

    @property
    def last_known_elr(self) -> Sequence[int]:
        return self.registered.last_known_elr

    # -- what it is to be

    def change(
        self,
        *,
        isr: Sequence[int] | None = None,
        leader: int | None = None,
        eligible_leader_replicas: Sequence[int] | None = None,
        last_known_elr: Sequence[int] | None = None,
    ) -> None:
        """Writes the change; with `leader`, that begins the next leader epoch."""
        record = PartitionChangeRecord(
            self.topic_id,
            self.index,
            isr,
            leader,
            eligible_leader_replicas=eligible_leader_replicas,
            last_known_elr=last_known_elr,
        )
        self.write([record])

    def write(self, records: Iterable[PartitionChangeRecord]) -> None:
        """Writes records about the partition, one after the other."""
        for record in records:
            self.state.write(record)

    def lead(self, broker: int) -> None:
        """Makes `broker` the leader of the next leader epoch."""
        self.change(leader=broker)

    def bump_epoch(self) -> None:
        """Begins the next leader epoch with the same leader."""
        self.change(leader=self.leader)

    def lose_leader(self) -> None:
        """Records that no replica may lead."""
        self.change(leader=NO_LEADER)


def partitions(
    state: ControllerState, such: Callable[[PartitionRegistration], bool]
) -> list[ControlledPartition]:
    """The partitions that are such now."""
    return [
        ControlledPartition(state, topic.id, index)
        for topic in state.image.topic_ids.values()
        for index, registered in enumerate(topic.partitions)
        if such(registered)
    ]


def partitions_on(state: ControllerState, broker: int) -> list[ControlledPartition]:
    """Those that have a replica on a broker."""
    return partitions(state, lambda registered: broker in registered.replicas)
