"""One request that the core answers."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ..acls import ResourceType
from ..outcome import PARKED, Client, Failed, Steps
from ..policies import Policies
from ..protocol.codecs import AnswerTooLargeError
from .broker import Broker
from .cluster import Cluster
from .endpoint import Endpoint
from .topic import Topic

if TYPE_CHECKING:
    from ..replication.partition import Partition
    from .authorizer import Asker

LEAST_BYTES: Final = 100
"""An entry of an answer that is being made counts as so many bytes."""


class Call:
    """A request to `broker`: its version, and the client that sent it.

    A handler returns the answer; or it returns PARKED, and later calls `answer` exactly once. `long` says
    that request or answer is so large that they are read, made and written in parts.
    """

    __slots__ = (
        "_entries",
        "broker",
        "client",
        "client_id",
        "cluster",
        "environment",
        "long",
        "sink",
        "version",
    )

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
        self.long = False
        self._entries = 0

    asker: "Asker | None" = None
    """Who has to be asked what the client may do; None if it may do everything."""

    def sees(self, topic: str) -> bool:
        """Whether the client may know of a topic that it did not name."""
        return self.asker is None or self.asker.sees(ResourceType.TOPIC, topic)

    def told(self, broker: Broker) -> Endpoint:
        """The address at which the client reaches a broker."""
        return broker.told_at(self.client.listener)

    @property
    def who(self) -> str:
        """The client, in words."""
        return f"client {self.client_id}"

    @property
    def policies(self) -> Policies:
        """The answers in force on the broker that was asked."""
        policies = self.environment.policies
        return policies.at(broker=self.broker.id) if policies.scoped else policies

    def partition(self, topic: Topic | str | None, index: int) -> "Partition | None":
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
        answer = self.cluster.work.begin(self, steps)
        self.long = self.long or answer is PARKED
        return answer

    def count(self, entries: int) -> None:
        """To be called before so many entries are added to the answer, where they may be many more than the
        request has. AnswerTooLargeError."""
        self._entries += entries
        if self._entries > (most := self.most_bytes) // LEAST_BYTES:
            raise AnswerTooLargeError(
                f"the answer would have more than {most // LEAST_BYTES} entries, {LEAST_BYTES} bytes each"
            )

    @property
    def most_bytes(self) -> int:
        """The size of the largest answer."""
        return self.environment.configs.broker_int("mockbroker.max.response.bytes")

    @property
    def gone(self) -> bool:
        """Whether the broker went down: then nothing is done, and nobody gets an answer."""
        return not self.broker.online

    @property
    def now_ms(self) -> int:
        return self.cluster.environment.now_ms

    def answer(self, response: Any) -> None:
        """Completes a parked request."""
        self.sink(self, response)

    def ended_by(self, error: Exception) -> None:
        """Ends a parked request that can't be completed."""
        self.sink(self, Failed(error))
