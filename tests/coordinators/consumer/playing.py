"""Clients of consumer groups, and the state machine that plays them."""

from collections.abc import Mapping
from typing import Any, ClassVar, Generic, Protocol, TypeVar
from uuid import UUID

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from mockbroker.coordinators.consumer.group import ConsumerGroup
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatTopicPartitions,
)
from tests.driving.groups import GroupDriver

E = ErrorCode
TOPICS = ["orders", "payments"]
AT_ONCE: dict[str, Any] = {"group_consumer_assignment_interval_ms": 0}
Owned = dict[UUID, frozenset[int]]


class Client:
    """A member as a client keeps it: its epoch, and the partitions that it reads. It speaks the newest
    version unless told."""

    def __init__(
        self, driver: GroupDriver, member_id: str, topics: list[str], version: int | None = None
    ) -> None:
        self._driver, self.id, self.topics, self._version = driver, member_id, topics, version
        self.epoch = 0
        self.reads: Owned = {}
        self.given: Owned = {}
        self.gone = False

    def beat(self, **more: Any) -> Any:
        """A heartbeat. What it is no longer given, it gives up; only the next heartbeat says so."""
        fields: dict[str, Any] = {"topic_partitions": _told(self.reads)}
        if self.epoch == 0:
            fields |= {"rebalance_timeout_ms": 60_000, "subscribed_topic_names": self.topics}
        request = ConsumerGroupHeartbeatRequest("g", self.id, self.epoch, **{**fields, **more})
        answer = self._driver.ask(request, self._version)
        if answer.error_code in (E.FENCED_MEMBER_EPOCH, E.UNKNOWN_MEMBER_ID, E.GROUP_ID_NOT_FOUND):
            self.epoch, self.reads, self.given = 0, {}, {}
        elif not answer.error_code:
            assert answer.member_epoch >= self.epoch
            self.epoch = answer.member_epoch
            if answer.assignment is not None:
                self.given = {
                    each.topic_id: frozenset(each.partitions) for each in answer.assignment.topic_partitions
                }
                self.reads = {topic: found for topic, found in self.given.items() if found}
        return answer

    def leave(self) -> None:
        self._driver.ask(ConsumerGroupHeartbeatRequest("g", self.id, -1))
        self.gone, self.reads = True, {}


def _told(owned: Owned) -> list[ConsumerGroupHeartbeatTopicPartitions]:
    return [ConsumerGroupHeartbeatTopicPartitions(topic, sorted(found)) for topic, found in owned.items()]


class Reader(Protocol):
    @property
    def reads(self) -> Owned: ...


def read_by(clients: Mapping[str, Reader]) -> list[tuple[UUID, int]]:
    return [
        (topic, index)
        for each in clients.values()
        for topic, partitions in each.reads.items()
        for index in partitions
    ]


def group_of(driver: GroupDriver) -> ConsumerGroup:
    group = driver.groups.groups["g"]
    assert isinstance(group, ConsumerGroup)
    return group


class Player(Protocol):
    """A client that goes on by itself, one step for each `beat`."""

    topics: list[str]

    @property
    def reads(self) -> Owned: ...
    def beat(self) -> Any: ...
    def leave(self) -> None: ...


P = TypeVar("P", bound=Player)


class Playing(RuleBasedStateMachine, Generic[P]):
    """Clients send heartbeats and leave, and the coordinator moves. How they join is up to the machine."""

    config: ClassVar[Mapping[str, Any]] = AT_ONCE
    rounds: ClassVar = 8
    """How many heartbeats of everybody are enough."""
    pause_ms: ClassVar = 0
    """How much time is between them."""

    def __init__(self) -> None:
        super().__init__()
        self.driver = GroupDriver(brokers=3, **self.config)
        self.clients: dict[str, P] = {}
        self.joined = 0

    def new_name(self) -> str:
        self.joined += 1
        return f"m{self.joined}"

    def add(self, name: str, client: P) -> None:
        self.clients[name] = client
        client.beat()

    @precondition(lambda self: self.clients)
    @rule(data=st.data())
    def beat(self, data: st.DataObject) -> None:
        data.draw(st.sampled_from(list(self.clients.values()))).beat()

    @precondition(lambda self: self.clients)
    @rule(data=st.data())
    def leave(self, data: st.DataObject) -> None:
        self.clients.pop(data.draw(st.sampled_from(list(self.clients)))).leave()

    @rule()
    def move(self) -> None:
        self.driver.move_coordinator()

    @rule()
    def settle(self) -> None:
        """Once everybody has sent some heartbeats, all partitions are read."""
        for _ in range(self.rounds):
            self.driver.advance(self.pause_ms)
            for each in self.clients.values():
                each.beat()
        topics = {name for each in self.clients.values() for name in each.topics}
        known = self.driver.cluster.topics
        wanted = {
            (known[name].id, index)
            for name in topics
            if name in known
            for index in range(len(known[name].partitions))
        }
        assert set(read_by(self.clients)) == wanted

    @invariant()
    def nobody_reads_what_another_one_reads(self) -> None:
        read = read_by(self.clients)
        assert len(read) == len(set(read))
