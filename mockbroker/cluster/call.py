"""One request on its way through the core."""

import enum
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from ..policies import Policies
    from ..replication.partition import Partition
    from .broker import Broker
    from .cluster import Cluster
    from .topic import Topic


class Outcome(enum.Enum):
    """What a handler returns in place of an answer."""

    PARKED = "the answer comes later, by Call.answer"
    NO_ANSWER = "the protocol has no answer: Produce with acks=0"
    CLOSE = "the connection is closed"


PARKED: Final = Outcome.PARKED
NO_ANSWER: Final = Outcome.NO_ANSWER
CLOSE: Final = Outcome.CLOSE


class Failed:
    """What a sink gets in place of an answer when what a parked request left waiting raised `error`."""

    __slots__ = ("error",)

    def __init__(self, error: Exception) -> None:
        self.error = error


class Client:
    """Who asks: one connection. `host` is its address as groups show it (`/127.0.0.1`), `address` that of the
    socket (`127.0.0.1:51410`)."""

    __slots__ = ("address", "host", "software_name", "software_version")

    def __init__(self, host: str = "/127.0.0.1", address: str = "") -> None:
        self.host = host
        self.address = address
        self.software_name = ""
        self.software_version = ""


class Call:
    """A request being answered by `broker`: its version and who sent it.

    A handler returns the answer, or PARKED and then calls `answer` exactly once.
    """

    __slots__ = ("broker", "client", "client_id", "cluster", "environment", "sink", "version")

    def __init__(
        self,
        broker: "Broker",
        version: int,
        client: Client,
        client_id: str | None,
        sink: Callable[["Call", Any], None],
    ) -> None:
        self.broker = broker
        self.cluster: Cluster = broker.cluster
        self.environment = broker.environment
        self.version = version
        self.client = client
        self.client_id = client_id
        self.sink = sink

    @property
    def policies(self) -> "Policies":
        """The answers in force on the broker that is asked."""
        return self.broker.policies

    def partition(self, topic: "Topic | str | None", index: int) -> "Partition | None":
        """The partition as the broker that is asked knows it, None if there is none, or it has not heard of
        it."""
        if isinstance(topic, str):
            topic = self.cluster.topics.get(topic)
        if topic is None:
            return None
        replicas = self.broker.replicas
        return replicas.find(topic, index) or replicas.elsewhere(topic, index)

    @property
    def now_ms(self) -> int:
        return self.cluster.environment.now_ms

    def answer(self, response: Any) -> None:
        """Completes a parked request."""
        self.sink(self, response)

    def ended_by(self, error: Exception) -> None:
        """Ends a parked request that can't be completed."""
        self.sink(self, Failed(error))
