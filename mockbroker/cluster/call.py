"""One request that the core answers."""

from collections.abc import Callable
from typing import Any

from ..outcome import Client, Failed, Steps
from ..policies import Policies
from ..replication.partition import Partition
from .broker import Broker
from .cluster import Cluster
from .topic import Topic


class Call:
    """A request to `broker`: its version, and the client that sent it.

    A handler returns the answer; or it returns PARKED, and later calls `answer` exactly once.
    """

    __slots__ = ("broker", "client", "client_id", "cluster", "environment", "sink", "version")

    def __init__(
        self,
        cluster: Cluster,
        broker: Broker,
        version: int,
        client: Client,
        client_id: str | None,
        sink: Callable[["Call", Any], None],
    ) -> None:
        self.broker = broker
        self.cluster = cluster
        self.environment = broker.environment
        self.version = version
        self.client = client
        self.client_id = client_id
        self.sink = sink

    @property
    def policies(self) -> Policies:
        """The answers in force on the broker that was asked."""
        policies = self.environment.policies
        return policies.at(broker=self.broker.id) if policies.scoped else policies

    def partition(self, topic: Topic | str | None, index: int) -> Partition | None:
        """The partition as the broker that was asked knows it; None if there is none, or the broker has not
        learned of it."""
        if isinstance(topic, str):
            topic = self.cluster.topics.get(topic)
        if topic is None:
            return None
        replicas = self.broker.replicas
        return replicas.find(topic, index) or replicas.elsewhere(topic, index)

    def in_parts(self, steps: Steps) -> object:
        """For a handler to return: the answer, which is the result of `steps`, or PARKED."""
        return self.cluster.work.begin(self, steps)

    @property
    def now_ms(self) -> int:
        return self.cluster.environment.now_ms

    def answer(self, response: Any) -> None:
        """Completes a parked request."""
        self.sink(self, response)

    def ended_by(self, error: Exception) -> None:
        """Ends a parked request that can't be completed."""
        self.sink(self, Failed(error))
