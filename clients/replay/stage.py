"""The simulator's world with a served cluster in it."""

from collections.abc import Callable
from typing import Any

from mockbroker.cluster.cluster import Cluster
from mockbroker.faults import Fault, Faults
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.simulation.network import Network, Random
from mockbroker.simulation.plan import Plan
from mockbroker.simulation.world import World

Told = Callable[[int, str, str], None]
"""Gets ms since the start, who, and what."""


class Stage(World):
    """To be touched in the cluster's thread only. What happens is told as it happens."""

    def __init__(self, plan: Plan, cluster: Cluster, faults: Faults, told: Told) -> None:
        self._told = told
        super().__init__(plan, cluster=cluster)
        self.recording = True
        self.network = Cuts(cluster, self.stream("network"), plan.delay_ms, faults)

    def tell(self, who: str, text: str) -> None:
        self._told(self.since_start_ms, who, text)


class Cuts(Network):
    """Does to real clients, by faults, what the network does to model clients, of which there may be some
    too.

    Their requests take longer by the time that a request and its answer are under way in the simulation,
    on average. A request that is sent during a cut gets no answer; one that arrived before it does.
    """

    def __init__(self, cluster: Cluster, random: Random, delay_ms: int, faults: Faults) -> None:
        super().__init__(cluster, random, delay_ms, timeout_ms=1_000)
        self._faults = faults
        self._silent: dict[tuple[str, int], Fault] = {}
        self._lost: list[Fault] = []
        faults.add("delay", ms=1, jitter_ms=2 * delay_ms)

    def cut(self, client: str, broker: int) -> None:
        super().cut(client, broker)
        if (client, broker) not in self._silent:
            self._silent[client, broker] = self._faults.add("silence", client_id=client, broker=broker)

    def mend(self, client: str, broker: int) -> None:
        super().mend(client, broker)
        fault = self._silent.pop((client, broker), None)
        if fault is not None:
            self._faults.remove(fault)

    def mend_all(self) -> None:
        super().mend_all()
        for client, broker in list(self._silent):
            self.mend(client, broker)
        for fault in self._lost:
            self._faults.remove(fault)

    def lose_answer(self, client: str, api: ApiKey | None = None) -> None:
        super().lose_answer(client, api)
        which: dict[str, Any] = {} if api is None else {"api": api}
        self._lost.append(self._faults.add("disconnect", client_id=client, when="after", times=1, **which))
