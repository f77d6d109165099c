"""What the proxy knows of the cluster behind it: as much as faults ask of a cluster."""

from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

from ..cluster.broker import Broker
from ..cluster.cluster import Cluster
from ..cluster.liveness import Liveness
from ..cluster.notes import Notes
from ..environment import Environment
from ..policies import Policies
from ..protocol.releases import NEWEST, Release, parse
from ..seeded import streams
from ..trace import Trace
from .deciding import Decider
from .faults import ProxiedFaults


class UpstreamBroker:
    """A broker by its id. `host` and `port` are where the cluster says that it is, `local` where clients find
    it."""

    def __init__(
        self, broker: int, host: str, port: int, local: tuple[str, int], upstream: "Upstream"
    ) -> None:
        self.id = broker
        self.host = host
        self.port = port
        self.local = local
        self.environment = upstream.environment
        self.liveness, self.fenced = Liveness.RUNNING, False
        self.endpoints: dict[str, Any] = {}

    @property
    def address(self) -> tuple[str, int]:
        return self.host, self.port

    def __str__(self) -> str:
        return f"broker {self.id}" if self.id >= 0 else "a broker"


class Upstream:
    """Takes the place of the `Cluster` that faults, their conditions and the trace are given.

    `listen` opens the listener of a broker that was not known, and returns its address. `shown` is the
    release whose versions clients may use; None: those of the cluster. `policies` are answers of behaviours,
    by name. UnknownPolicyError.
    """

    def __init__(
        self,
        listen: Callable[[int], tuple[str, int]],
        shown: Release | None = None,
        policies: Mapping[str, Any] | None = None,
    ) -> None:
        self._listen = listen
        self.shown = shown
        self.environment = Environment(shown or parse(NEWEST), streams(0))
        self.decider = Decider(self.environment.release, policies or {})
        self.release = self.environment.release
        self.controller = SimpleNamespace(
            on_client_quotas=[],
            image=SimpleNamespace(client_quotas=dict[Any, Any]()),
            metadata=SimpleNamespace(behind=dict[Any, Any](), end_offset=0),
        )
        self.brokers: dict[int, UpstreamBroker] = {}
        self.seeds: list[UpstreamBroker] = []
        self.topics: dict[str, Any] = {}
        self.topic_ids: dict[UUID, Any] = {}
        self.faults = ProxiedFaults(self.as_cluster)
        self.notes = Notes()
        self.trace = Trace(self.as_cluster)

    def begins_at(self, addresses: Iterable[tuple[str, int]]) -> None:
        """Opens listeners for brokers of which only addresses are known: by these, clients get to know the
        cluster. They have ids of their own, as in clients."""
        for number, (host, port) in enumerate(dict.fromkeys(addresses), 1):
            self.seeds.append(UpstreamBroker(-number, host, port, self._listen(-number), self))

    def broker(self, listener: int) -> UpstreamBroker:
        """Whose listener it is that was opened for this id."""
        return self.brokers[listener] if listener >= 0 else self.seeds[-listener - 1]

    @property
    def as_cluster(self) -> Cluster:
        return cast(Cluster, self)

    @property
    def policies(self) -> Policies:
        """What was chosen; the trace puts policies in their place that tell it what they decide."""
        return self.decider.policies

    @policies.setter
    def policies(self, policies: Policies) -> None:
        self.decider.policies = policies

    def partitions(self) -> tuple[()]:
        """None: what they are like is the cluster's business."""
        return ()

    @property
    def now_ms(self) -> int:
        return self.environment.now_ms

    def told(self, broker: int, host: str, port: int) -> tuple[str, int]:
        """Where clients find a broker of which the cluster says that it is at `host` and `port`."""
        if broker < 0 or not host:
            return host, port
        found = self.brokers.get(broker)
        if found is None:
            found = self.brokers[broker] = self._found(broker, host, port)
        found.host, found.port = host, port
        return found.local

    def _found(self, broker: int, host: str, port: int) -> UpstreamBroker:
        for seed in self.seeds:
            if seed.id < 0 and seed.address == (host, port):
                seed.id = broker
                return seed
        return UpstreamBroker(broker, host, port, self._listen(broker), self)

    def named(self, topic: str, topic_id: UUID | None) -> None:
        """Notes a topic's name, by which conditions find it in requests that have its id."""
        known = self.topics.setdefault(topic, SimpleNamespace(name=topic, partitions=(), internal=False))
        if topic_id is not None and topic_id.int:
            self.topic_ids[topic_id] = known


def broker_of(broker: UpstreamBroker) -> Broker:
    """As a `Call` has it."""
    return cast(Broker, broker)
