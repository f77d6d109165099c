"""A cluster whose time the test moves, and requests to its brokers as values."""

import contextlib
import copy
from collections.abc import Callable, Mapping
from typing import Any, Final

from mockbroker.apis import HANDLERS
from mockbroker.apis.advertised import advertised
from mockbroker.cluster.call import Call
from mockbroker.cluster.cluster import Cluster
from mockbroker.environment import Environment
from mockbroker.outcome import PARKED, Client, Failed, Unanswered
from mockbroker.policies import Policies
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.codecs import Codec, codec
from mockbroker.protocol.messages import create_topics, of_administrators
from mockbroker.protocol.primitives import TextTooLongError
from mockbroker.protocol.releases import parse
from mockbroker.rig.client import encode
from mockbroker.seeded import streams

NOW_MS: Final = 1_700_000_000_000
"""When clusters begin, in Unix time."""


def dotted(config: Mapping[str, object]) -> dict[str, str]:
    """Configuration by Kafka's names, from keywords with `_` for `.`."""
    return {name.replace("_", "."): str(value) for name, value in config.items()}


def key_of(request: object) -> ApiKey:
    return ApiKey[type(request).__module__.rpartition(".")[2].upper()]


class Asked:
    """A request that was sent. Its answer's fields are its own; they can't be read while it is parked."""

    def __init__(self, key: ApiKey) -> None:
        self.key = key
        self.response: Any = None
        self.outcome: Unanswered | None = None
        """What the handler returned in place of an answer."""

    @property
    def parked(self) -> bool:
        return self.response is None and self.outcome is PARKED

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        assert self.response is not None, f"{self.key.name} has no answer: {self.outcome}"
        return getattr(self.response, name)


def a_cluster(
    kafka: str = "4.4", brokers: int = 3, policies: Mapping[str, str] | None = None, **config: object
) -> Cluster:
    """`config` is that of the brokers."""
    return configured(kafka, brokers, policies, config)


def configured(
    kafka: str,
    brokers: int,
    policies: Mapping[str, str] | None,
    config: Mapping[str, object],
    racks: Mapping[int, str] | None = None,
) -> Cluster:
    """As `a_cluster`, with racks by broker."""
    release = parse(kafka)
    environment = Environment(
        release,
        streams(0),
        config=dotted(config),
        policies=Policies(release, policies or {}),
        now_ms=NOW_MS,
    )
    return Cluster(environment, brokers=brokers, racks=racks)


def newest(cluster: Cluster, key: ApiKey) -> int:
    """The highest version that the release advertises, with metrics of clients."""
    return advertised(cluster.release, telemetry=True)[key][1]


def ask(
    cluster: Cluster,
    request: Any,
    version: int | None = None,
    *,
    broker: int = 1,
    client_id: str | None = "test",
    answered: Callable[[Codec, Any], None] | None = None,
) -> Asked:
    """Asks in the newest version that the release advertises, unless told.

    Every answer has to be writable in that version; `answered` gets it, and what writes it.
    """
    key = key_of(request)
    version = newest(cluster, key) if version is None else version
    asked = Asked(key)

    def sink(_: Call, response: Any) -> None:
        assert asked.response is None, "answered twice"
        if isinstance(response, Failed):
            raise response.error
        asked.response = response
        if answered is None:
            # The connection answers in the place of what is too long to write.
            with contextlib.suppress(TextTooLongError):
                codec(key, version).encode(0, copy.deepcopy(response))
        else:
            answered(codec(key, version), response)

    call = Call(cluster, cluster.brokers[broker], version, Client(), client_id, sink)
    response = HANDLERS[key](call, request)
    if isinstance(response, Unanswered):
        asked.outcome = response
    else:
        sink(call, response)
    return asked


def ask_for(
    cluster: Cluster, api: str, version: int | None = None, *, broker: int = 1, **fields: Any
) -> Asked:
    """As `ask`, with the request's fields by name, as `rig.client` has them."""
    key = ApiKey[api.upper()]
    version = newest(cluster, key) if version is None else version
    made = codec(key, version)
    frame = bytearray(made.flexible) + encode(api, version, fields)
    return ask(cluster, made.decode(memoryview(frame), 0), version, broker=broker)


def create(cluster: Cluster, name: str, partitions: int = 1, factor: int = 1, **configs: str | None) -> Any:
    """Creates one topic by request; its result."""
    topic = create_topics.CreatableTopic(name, partitions, factor)
    topic.configs = [
        of_administrators.Config(each.replace("_", "."), value) for each, value in configs.items()
    ]
    return ask(cluster, create_topics.CreateTopicsRequest([topic])).topics[0]


class ClusterDriver:
    """A cluster and its time; brokers go down and come up."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    @property
    def now_ms(self) -> int:
        return self.cluster.now_ms

    def advance(self, ms: int) -> None:
        self.cluster.advance(self.cluster.now_ms + ms)

    def stop_broker(self, broker: int) -> None:
        self.cluster.processes.stop(broker)

    def kill_broker(self, broker: int) -> None:
        self.cluster.processes.kill(broker)

    def start_broker(self, broker: int) -> None:
        self.cluster.processes.start(broker)

    def cut_off(self, broker: int) -> None:
        """From all others, and from the controller."""
        self.cluster.network.cut_off(broker, self.cluster.brokers, from_controller=True)

    def rejoin(self, broker: int) -> None:
        self.cluster.network.rejoin(broker)

    def newest(self, key: ApiKey) -> int:
        return newest(self.cluster, key)

    def responsible(self) -> int:
        """The broker that is asked where a test names none."""
        return 1

    def ask(
        self, request: Any, version: int | None = None, *, broker: int | None = None, **how: Any
    ) -> Asked:
        asked = self.responsible() if broker is None else broker
        return ask(self.cluster, request, version, broker=asked, **how)

    def ask_for(
        self, api: str, version: int | None = None, *, broker: int | None = None, **fields: Any
    ) -> Asked:
        asked = self.responsible() if broker is None else broker
        return ask_for(self.cluster, api, version, broker=asked, **fields)
