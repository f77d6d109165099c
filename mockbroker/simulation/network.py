"""A network in virtual time: what is sent arrives later, in order for each connection, or never."""

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from ..apis.registry import HANDLERS
from ..cluster.broker import Broker
from ..cluster.call import Call
from ..cluster.cluster import Cluster
from ..outcome import CLOSE, NO_ANSWER, PARKED, Client
from ..protocol.api_keys import ApiKey

Then = Callable[[Any], None]
"""Gets the answer, or None if the connection was lost before."""


class Witness(Protocol):
    """Sees what brokers are asked and answer, and which connections with a share session they lose."""

    def asked(self, call: Call, api: ApiKey, request: Any) -> None: ...
    def told(self, call: Call, api: ApiKey, request: Any, answer: Any) -> None: ...
    def closing(self, broker: Broker, client: Client) -> None: ...


class Random(Protocol):
    """The part of `random.Random` that the simulation draws from."""

    def random(self) -> float: ...
    def randrange(self, start: int, stop: int, /) -> int: ...


class Watcher(Protocol):
    """Is told about everything that goes over the network."""

    def requested(self, call: Call, api: ApiKey, request: Any) -> None: ...
    def answered(self, call: Call, api: ApiKey, request: Any, answer: Any) -> None: ...
    def lost(self, client: str, broker: int, api: ApiKey, why: str) -> None: ...


class Link:
    """A client's connection to a broker, which handles a request once the previous one is answered."""

    __slots__ = (
        "_answers_ms",
        "_busy",
        "_client",
        "_draining",
        "_name",
        "_network",
        "_requests_ms",
        "_waiting",
        "broker",
        "cut",
        "open",
        "sent",
    )

    def __init__(self, network: "Network", name: str, broker: Broker) -> None:
        self._network, self._name, self.broker = network, name, broker
        self._client = Client()
        self.open = True
        self.cut = False
        """Whether nothing gets through."""
        self.sent: deque[_Sent] = deque()
        """Requests without an answer yet, oldest first."""
        self._waiting: deque[_Sent] = deque()
        self._busy = self._draining = False
        self._requests_ms = self._answers_ms = 0

    def send(self, api: ApiKey, version: int, request: Any, then: Then) -> None:
        network = self._network
        sent = _Sent(api, version, request, then)
        self.sent.append(sent)
        self._requests_ms = network.arrives(self._requests_ms)
        network.environment.timers.at(self._requests_ms, partial(self._arrived, sent))

    def _arrived(self, sent: "_Sent") -> None:
        if not self.open or self.cut:
            return
        if self._busy or self._waiting:
            self._waiting.append(sent)
        else:
            self._work(sent)

    def _work(self, sent: "_Sent") -> None:
        network = self._network
        network.requests += 1
        answered = partial(self._answered, sent)
        call = Call(network.cluster, self.broker, sent.version, self._client, self._name, answered)
        if network.watcher is not None:
            network.watcher.requested(call, sent.api, sent.request)
        if network.witness is not None:
            network.witness.asked(call, sent.api, sent.request)
        answer = HANDLERS[sent.api](call, sent.request)
        if answer is PARKED:
            self._busy = True
        else:
            self._answered(sent, call, answer)

    def _answered(self, sent: "_Sent", call: Call, answer: Any) -> None:
        """The broker has answered."""
        network = self._network
        if network.watcher is not None:
            network.watcher.answered(call, sent.api, sent.request, answer)
        if network.witness is not None:
            network.witness.told(call, sent.api, sent.request, answer)
        if answer is CLOSE:
            self.lose("closed by the broker")
        elif answer is not NO_ANSWER and self.open:
            if network.answers_to_lose and network.loses_answer(self._name, sent.api):
                self.lose("the answer is lost")
            else:
                self._answers_ms = network.arrives(self._answers_ms)
                network.environment.timers.at(self._answers_ms, partial(self._deliver, sent, answer))
        self._busy = False
        if self._waiting and not self._draining:
            self._drain()

    def _drain(self) -> None:
        """One by one in a loop, not recursively: there may be thousands."""
        self._draining = True
        while self._waiting and self.open and not self._busy:
            self._work(self._waiting.popleft())
        self._draining = False

    def _deliver(self, sent: "_Sent", answer: Any) -> None:
        if self.open and not self.cut:
            self.sent.remove(sent)
            sent.then(answer)

    def lose(self, why: str) -> None:
        """The connection breaks; the client learns of it at once."""
        if not self.open:
            return
        self.open = False
        if self._client.when_closed is not None:
            if self._network.witness is not None:
                self._network.witness.closing(self.broker, self._client)
            self._client.closed()
        lost, self.sent = self.sent, deque()
        for sent in lost:
            if self._network.watcher is not None:
                self._network.watcher.lost(self._name, self.broker.id, sent.api, why)
            self._network.environment.timers.at(self._network.environment.now_ms + 1, sent.fail)


class _Sent:
    """A request on its way."""

    __slots__ = ("api", "request", "then", "version")

    def __init__(self, api: ApiKey, version: int, request: Any, then: Then) -> None:
        self.api, self.version, self.request, self.then = api, version, request, then

    def fail(self) -> None:
        self.then(None)


class Network:
    """Delays are drawn between 1 and `delay_ms`; a connection that is cut fails after `timeout_ms`."""

    def __init__(self, cluster: Cluster, random: Random, delay_ms: int, timeout_ms: int) -> None:
        self.cluster, self._random, self._delay_ms, self._timeout_ms = cluster, random, delay_ms, timeout_ms
        self.environment = cluster.environment
        self.watcher: Watcher | None = None
        self.witness: Witness | None = None
        self.requests = 0
        """How many requests have arrived at brokers."""
        self._links: dict[tuple[str, int, str], Link] = {}
        self._cut: set[tuple[str, int]] = set()
        self.answers_to_lose: dict[str, ApiKey | None] = {}
        """The next answer to a client is lost, or the next to such a request."""

    def send(
        self, client: str, broker: int, api: ApiKey, version: int, request: Any, then: Then, lane: str = ""
    ) -> None:
        """Sends a request over the client's connection to the broker, of which there is one per `lane`."""
        key = client, broker, lane
        link = self._links.get(key)
        if link is None or not link.open:
            if not self.cluster.brokers[broker].online:
                self.environment.timers.at(self.environment.now_ms + 1, lambda: then(None))
                return
            link = self._links[key] = Link(self, client, self.cluster.brokers[broker])
            if (client, broker) in self._cut:
                self._cut_off(link)
        link.send(api, version, request, then)

    def arrives(self, not_before_ms: int) -> int:
        """When something that is sent now arrives: not before what was sent earlier."""
        at_ms = self.environment.now_ms + 1 + int(self._random.random() * self._delay_ms)
        return at_ms if at_ms > not_before_ms else not_before_ms

    def cut(self, client: str, broker: int) -> None:
        """Cuts the client off from the broker; its connections fail when their requests time out."""
        self._cut.add((client, broker))
        for link in self._of(client, broker):
            self._cut_off(link)

    def mend(self, client: str, broker: int) -> None:
        self._cut.discard((client, broker))
        for link in self._of(client, broker):
            link.cut = False

    def mend_all(self) -> None:
        for client, broker in list(self._cut):
            self.mend(client, broker)
        self.answers_to_lose.clear()

    def lose_answer(self, client: str, api: ApiKey | None = None) -> None:
        """The next answer to the client, to any request or one of `api`, is lost with its connection."""
        self.answers_to_lose[client] = api

    def hang_up(self, client: str) -> None:
        """The client closes all its connections."""
        for (name, _, _), link in list(self._links.items()):
            if name == client:
                link.lose("closed by the client")

    def loses_answer(self, client: str, api: ApiKey) -> bool:
        if client not in self.answers_to_lose or self.answers_to_lose[client] not in (None, api):
            return False
        del self.answers_to_lose[client]
        return True

    def broker_down(self, broker: int) -> None:
        """Breaks all connections to the broker."""
        for (_, other, _), link in list(self._links.items()):
            if other == broker:
                link.lose("the broker is down")

    def _of(self, client: str, broker: int) -> list[Link]:
        return [link for (c, b, _), link in self._links.items() if (c, b) == (client, broker) and link.open]

    def _cut_off(self, link: Link) -> None:
        link.cut = True
        self.environment.timers.at(self.environment.now_ms + self._timeout_ms, lambda: link.lose("timed out"))
