"""What stands in a model client's place."""

from collections.abc import Iterator
from typing import Protocol

from mockbroker.server.mock_cluster import MockCluster
from mockbroker.simulation.consumer import ModelConsumer
from mockbroker.simulation.consumer_setting import ConsumerSetting
from mockbroker.simulation.plan import Plan
from mockbroker.simulation.producer import ModelProducer
from mockbroker.simulation.producer_setting import ProducerSetting

from .stage import Stage


class RealConsumer(ModelConsumer):
    """Looks like a model consumer to those who ask about it; a real one does the work, and is watched.

    The world that it is in is touched in the cluster's thread only.
    """

    def close(self) -> None:
        """Ends it, wherever it is."""
        raise NotImplementedError


class RealProducer(ModelProducer):
    """The same of a producer."""

    @property
    def waiting(self) -> int:
        """How many records are not delivered yet, nor given up."""
        raise NotImplementedError

    def close(self) -> None:
        """Ends it, delivered or not."""
        raise NotImplementedError


class Instruments(Protocol):
    """A client library."""

    name: str

    def missing(self, plan: Plan) -> Iterator[str]:
        """Which parts of a plan it can't do as the plan says, and what it does instead."""

    def consumer(
        self, cluster: MockCluster, stage: Stage, name: str, setting: ConsumerSetting
    ) -> RealConsumer: ...

    def producer(
        self, cluster: MockCluster, stage: Stage, name: str, setting: ProducerSetting
    ) -> RealProducer: ...


def missing(plan: Plan, instruments: Instruments) -> Iterator[str]:
    """What a replay with real clients lacks, as readable lines."""
    yield from instruments.missing(plan)
    if any(each.transactional for each in plan.producers):
        yield "transactional producers are still the model's"
    if plan.purges:
        yield "what the group deletes is still deleted by the model"
