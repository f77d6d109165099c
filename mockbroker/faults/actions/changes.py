"""What happens in the cluster while a request is under way."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ...cluster import controller
from ...cluster.follower import FollowerState
from ..about import about
from ..exchange import Exchange
from ..match import FaultError, Match
from .action import Action, When, action

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...cluster.cluster import Cluster
    from ...cluster.partition import Partition


@dataclass
class _Targeted(Action):
    """`target` is the id of the broker that it is about."""

    target: int | None = None

    def prepare(self, cluster: "Cluster") -> None:
        if self.target is not None and self.target not in cluster.brokers:
            there = ", ".join(map(str, cluster.brokers))
            raise FaultError(f"no broker {self.target!r}: choose one of {there}")


@dataclass
class _BrokerChange(_Targeted):
    """The broker that is asked, if `target` is left out."""

    def apply(self, exchange: Exchange, match: Match, when: When) -> bool:
        self.change(exchange.call.cluster, exchange.call.broker.id if self.target is None else self.target)
        return True

    @abstractmethod
    def change(self, cluster: "Cluster", broker: int) -> None: ...


@action("stop-broker")
@dataclass
class StopBroker(_BrokerChange):
    """A broker goes down, in good order."""

    def change(self, cluster: "Cluster", broker: int) -> None:
        controller.stop_broker(cluster, broker)


@action("kill-broker")
@dataclass
class KillBroker(_BrokerChange):
    """A broker dies and tells nobody: nobody else leads before its session is over."""

    def change(self, cluster: "Cluster", broker: int) -> None:
        controller.kill_broker(cluster, broker)


@action("start-broker")
@dataclass
class StartBroker(_BrokerChange):
    """A broker comes back."""

    def change(self, cluster: "Cluster", broker: int) -> None:
        controller.start_broker(cluster, broker)


def _named(exchange: Exchange, match: Match) -> "list[Partition]":
    """The partitions that the request names and the fault is for."""
    cluster = exchange.call.cluster
    named = sorted(about(exchange.api, exchange.request, cluster).partitions)
    found = [cluster.partition(topic, index) for topic, index in named if match.covers(topic, index)]
    return [partition for partition in found if partition is not None]


@dataclass
class _LeaderChange(_Targeted):
    @abstractmethod
    def partitions(self, exchange: Exchange, match: Match) -> "Sequence[Partition]":
        """Those that get another leader."""

    def nothing_to_do(self, exchange: Exchange, match: Match) -> str:
        cluster, partitions = exchange.call.cluster, self.partitions(exchange, match)
        for partition in partitions:
            if controller.next_leader(cluster, partition, self.target) is not None:
                return ""
        if not partitions:
            return "the request names nothing that has a leader"
        return "; ".join(controller.why_none_leads(partition, self.target) for partition in partitions[:3])

    def apply(self, exchange: Exchange, match: Match, when: When) -> bool:
        for partition in self.partitions(exchange, match):
            controller.move_leader(exchange.call.cluster, partition, self.target)
        return True


@action("move-leader")
@dataclass
class MoveLeader(_LeaderChange):
    """The partitions that the request names get another leader of their ISR: `target`, or the next. Where
    none could lead, it is no hit."""

    def partitions(self, exchange: Exchange, match: Match) -> "Sequence[Partition]":
        return _named(exchange, match)


@action("move-coordinator")
@dataclass
class MoveCoordinator(_LeaderChange):
    """The groups and transactional ids that the request names get another coordinator: `target`, or the
    next broker that has their records. Where there is none, it is no hit."""

    def partitions(self, exchange: Exchange, match: Match) -> "Sequence[Partition]":
        cluster = exchange.call.cluster
        what = about(exchange.api, exchange.request, cluster)
        moved = {cluster.offsets_partition(each) for each in what.groups}
        moved |= {cluster.transaction_partition(each) for each in what.transactional_ids}
        return sorted(moved, key=lambda each: (each.topic.name, each.index))


@dataclass
class _FollowerChange(_Targeted):
    """The followers of the partitions that the request names: on broker `target`, or all."""

    state: ClassVar[FollowerState]

    def apply(self, exchange: Exchange, match: Match, when: When) -> bool:
        for partition in _named(exchange, match):
            for broker in list(partition.followers):
                if self.target in (None, broker) and broker != partition.leader:
                    partition.set_follower(broker, self.state)
        return True


@action("pause-follower")
@dataclass
class PauseFollower(_FollowerChange):
    """Followers fetch no more."""

    state = FollowerState.PAUSED


@action("resume-follower")
@dataclass
class ResumeFollower(_FollowerChange):
    """Followers fetch again."""

    state = FollowerState.BEHIND
