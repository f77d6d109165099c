"""The trace of a simulated history, with the same events and files as that of a served cluster."""

from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from ..cluster.call import Call
from ..protocol.api_keys import ApiKey
from ..trace import Event, Trace
from ..trace.exchanges import Asked
from .world import World

_LOOK_MS: Final = 20
"""How often the trace looks at the cluster's state between requests."""


def watch(world: World, listener: Callable[[Event], None]) -> None:
    """From now on `listener` is told what happens in `world`. Nothing in the world depends on that."""
    Tracer(world, listener)


class Tracer:
    """Watches a network from the brokers' side: an answer that is lost on its way is an answer.

    A connection is named `client:broker`, even if the client has several; its requests are numbered.
    """

    def __init__(self, world: World, listener: Callable[[Event], None]) -> None:
        self._cluster = world.cluster
        self._trace = Trace(world.cluster, kept=0)
        self._trace.listeners.append(listener)
        self._trace.start()
        self._requests: Counter[str] = Counter()
        self._under_way: dict[Call, Asked] = {}
        world.network.watcher = self
        self._look()

    def requested(self, call: Call, api: ApiKey, request: Any) -> None:
        connection = f"{call.client_id}:{call.broker.id}"
        self._requests[connection] += 1
        number = self._requests[connection]
        self._under_way[call] = self._trace.requested(call, api, request, connection, number)

    def answered(self, call: Call, api: ApiKey, request: Any, answer: Any) -> None:
        self._trace.answered(self._under_way.pop(call), answer)

    def lost(self, client: str, broker: int, api: ApiKey, why: str) -> None:
        """Only the client notices."""

    def _look(self) -> None:
        self._trace.changed()
        self._cluster.environment.after(_LOOK_MS, self._look)
