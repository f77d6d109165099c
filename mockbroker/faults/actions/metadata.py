"""Actions by which metadata is out of date or wrong."""

from abc import abstractmethod
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from ...nearest import among
from ...protocol.api_keys import ApiKey
from ..answers import PlaceInAnswer, changed, meant
from ..exchange import Exchange
from ..match import FaultError, Match
from .action import Action, When, action, check_number

if TYPE_CHECKING:
    from ...cluster.cluster import Cluster

_METADATA = frozenset({ApiKey.METADATA, ApiKey.DESCRIBE_CLUSTER, ApiKey.DESCRIBE_TOPIC_PARTITIONS})


@dataclass
class _Lie(Action):
    """Changes answers that describe the cluster, and no others."""

    when = ("after",)

    def apply(self, exchange: Exchange, match: Match, when: When) -> bool:
        if exchange.api in _METADATA and exchange.has_answer:

            def change(place: PlaceInAnswer, entity: Any) -> Any:
                return self.change(place, entity) if meant(place, match) else entity

            exchange.answer = changed(exchange.answer, exchange.call, exchange.request, change)
        return True

    @abstractmethod
    def change(self, place: PlaceInAnswer, entity: Any) -> Any: ...

    def check(self, match: Match) -> None:
        for api in match.api:
            if api not in _METADATA:
                why = "this is for api='Metadata', 'DescribeCluster' or 'DescribeTopicPartitions'"
                raise FaultError(why, "api")


@action("stale-metadata")
@dataclass
class StaleMetadata(_Lie):
    """Metadata has the leaders, leader epochs and ISRs of the time when the fault was added."""

    def prepare(self, cluster: "Cluster") -> None:
        self._old = {
            (partition.topic.name, partition.index): {
                "leader_id": partition.leader,
                "leader_epoch": partition.leader_epoch,
                "isr_nodes": list(partition.isr),
                "error_code": 0,
            }
            for partition in cluster.partitions()
        }

    def change(self, place: PlaceInAnswer, entity: Any) -> Any:
        if place.topic is None or place.partition is None:
            return entity
        old = self._old.get((place.topic, place.partition))
        return replace(entity, **old) if old and place.level == "partition" else entity


@action("hide-broker")
@dataclass
class HideBroker(_Lie):
    """Broker `target` is running and answers, but metadata does not list it."""

    target: int

    def check(self, match: Match) -> None:
        super().check(match)
        check_number("target", self.target)

    def prepare(self, cluster: "Cluster") -> None:
        if self.target not in cluster.brokers:
            raise FaultError(f"no broker {self.target!r}{among(cluster.brokers)}", "target")

    def change(self, place: PlaceInAnswer, entity: Any) -> Any:
        if place.level != "top" or "brokers" not in {each.name for each in fields(entity)}:
            return entity
        left = [
            each
            for each in entity.brokers
            if getattr(each, "node_id", getattr(each, "broker_id", None)) != self.target
        ]
        return replace(entity, brokers=left)
