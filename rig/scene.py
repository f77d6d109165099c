"""What a question has at hand: connections to the asked cluster, its own names, and helpers to set up."""

import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeVar

from ..addresses import parted
from ..errors import MockBrokerError
from . import batches, requests
from .client import (
    Client,
    DisconnectedError,
    Fields,
    Pending,
    UnreadableAnswerError,
    api_name,
    kio_versions,
    random_suffix,
)
from .network import SOCKETS, Network
from .normalise import Normaliser

T = TypeVar("T")


class _Closed(str):
    """Stands for an answer. A question that looks into it breaks off with the reason."""

    def __getitem__(self, key: Any) -> str:
        if isinstance(key, str):
            raise DisconnectedError("closed by the broker, which should have answered")
        return super().__getitem__(key)


CLOSED: Final = _Closed("<connection closed>")
NO_ANSWER: Final = "<no answer>"
UNKNOWN_TOPIC_ID: Final = uuid.UUID("11111111-2222-3333-4444-555555555555")
_WAIT_LIMIT_S = 15.0
_AFTER_DELETION_S = 0.3


class LacksApiError(MockBrokerError, LookupError):
    """The asked cluster does not advertise what a question takes; the message names it: "Produce v9"."""


@dataclass
class Target:
    """The asked cluster, as its Metadata and ApiVersions describe it."""

    host: str
    port: int
    timeout: float = 10.0
    nodes: list[tuple[int, str, int]] = field(default_factory=list)
    cluster_id: str | None = None
    versions: dict[str, tuple[int, int]] = field(default_factory=dict)
    unneeded: list[str] = field(default_factory=list)
    network: Network = SOCKETS

    @classmethod
    def connect(cls, bootstrap: str, timeout: float = 10.0, network: Network = SOCKETS) -> "Target":
        """Learn the cluster behind `bootstrap` ("host:port,…") and wait until it coordinates groups."""
        host, port = parted(bootstrap.split(",")[0])
        target = cls(host, port, timeout, network=network)
        with target.client(target.host, target.port) as client:
            target.versions = client.api_versions()
            version = target.newest("metadata")
            answer = client.call("metadata", version, requests.metadata())
            target.cluster_id = answer.get("cluster_id")
            target.nodes = sorted((each["node_id"], each["host"], each["port"]) for each in answer["brokers"])
            _await_coordinator(target, client)
        return target

    @property
    def patience_s(self) -> float:
        """How long a question waits for a state: some answers' time."""
        return min(_WAIT_LIMIT_S, 3 * self.timeout)

    def client(self, host: str, port: int, client_id: str | None = "conformance") -> Client:
        """A connection of its own."""
        return Client(host, port, client_id, self.timeout, self.network)

    def supported(self, api: str) -> Collection[int]:
        """Versions that the cluster advertises and kio has."""
        low, high = self.versions.get(api, (0, -1))
        return [version for version in kio_versions(api) if low <= version <= high]

    def newest(self, api: str) -> int:
        """The newest version that the cluster advertises and kio has."""
        found = self.supported(api)
        if not found:
            raise LacksApiError(self.lacking(api))
        return max(found)

    def lacking(self, api: str, version: int | None = None) -> str:
        """The name of an API that the cluster lacks, with the version if it has others."""
        known = version is not None and self.supported(api)
        return f"{api_name(api)} v{version}" if known else api_name(api)

    def delete_topics(self, at_least: int = 1) -> None:
        """Delete the topics that are not needed any more, once there are many of them.

        Not after each question: brokers with the old group coordinator (3.x) forget groups without
        members and offsets whenever a topic is deleted, even while a member is joining.
        """
        if len(self.unneeded) < at_least:
            return
        names, self.unneeded = self.unneeded, []
        try:
            with self.client(self.host, self.port) as client:
                client.call("delete_topics", self.newest("delete_topics"), requests.delete_topics(*names))
            self.network.sleep(_AFTER_DELETION_S)
        except (OSError, LookupError, ValueError):
            pass


def _await_coordinator(target: Target, client: Client) -> None:
    if 1 not in target.supported("find_coordinator") or 2 not in target.supported("offset_fetch"):
        return
    probe = {"key": "probe", "coordinator_keys": ["probe"]}
    limit = target.network.now_s() + target.patience_s
    while target.network.now_s() < limit:
        found = client.call("find_coordinator", 1, probe)
        if found["error_code"] == "NONE":
            try:
                with target.client(found["host"], found["port"]) as coordinator:
                    fetched = coordinator.call("offset_fetch", 2, {"group_id": "probe", "topics": None})
            except (UnreadableAnswerError, DisconnectedError):
                return
            if fetched["error_code"] == "NONE":
                return
        target.network.sleep(0.1)


class Scene:
    """One question asked at one version."""

    def __init__(self, target: Target, api: str, version: int) -> None:
        self.target, self.api, self.version = target, api, version
        self.suffix = random_suffix()
        ranks = {node: rank for rank, (node, _, _) in enumerate(target.nodes)}
        ports = {port: rank for rank, (_, _, port) in enumerate(target.nodes)}
        self.normaliser = Normaliser(self.suffix, target.cluster_id, ranks, ports, target.network.now_s)
        self.normaliser.name_topic_id(UNKNOWN_TOPIC_ID, "unknown")
        self._clients: list[Client] = []
        self._topics: list[str] = []
        self._topic_ids: dict[str, uuid.UUID] = {}
        self.client = self.new_client()

    def close(self) -> None:
        """Leave the topics made here for deletion and close all connections."""
        self.target.unneeded += self._topics
        for each in self._clients:
            each.close()

    # Names and connections

    def name(self, base: str = "t") -> str:
        """A name nobody else uses; `base` in the recorded answer."""
        return f"{base}-{self.suffix}"

    def new_client(self, client_id: str | None = "conformance", broker: int = 0) -> Client:
        """A connection of its own to the broker of rank `broker`."""
        _, host, port = self.target.nodes[broker]
        client = self.target.client(host, port, client_id)
        self._clients.append(client)
        return client

    def now_s(self) -> float:
        """Unix time, as brokers have it."""
        return self.target.network.now_s()

    def node(self, rank: int) -> int:
        """Id of the broker of that rank."""
        return self.target.nodes[rank][0]

    # Asking

    def ask(
        self,
        fields: Fields | None = None,
        /,
        *,
        client: Client | None = None,
        within: float | None = None,
        **more: Any,
    ) -> Any:
        """The answer to the API and version under question; `NO_ANSWER` when none comes `within` seconds."""
        if within is not None:
            hasty = self.new_client()
            hasty.timeout = within
            try:
                return self.ask(fields, client=hasty, **more)
            except TimeoutError:
                return NO_ANSWER
        return self.call(self.api, {**(fields or {}), **more}, version=self.version, client=client)

    def call(
        self,
        api: str,
        fields: Fields | None = None,
        /,
        *,
        version: int | None = None,
        client: Client | None = None,
    ) -> Any:
        """The answer to any API, by default in the newest version; `CLOSED` when there is none. LacksApiError
        if the cluster does not have what is needed beside the API under question."""
        chosen = self.target.newest(api) if version is None else version
        if api != self.api and chosen not in self.target.supported(api):
            raise LacksApiError(self.target.lacking(api, chosen))
        try:
            return (client or self.client).call(api, chosen, fields or {})
        except DisconnectedError:
            return CLOSED

    def send(self, fields: Fields, *, client: Client | None = None) -> Pending:
        """Send the API under question and return at once."""
        return (client or self.client).send(self.api, self.version, fields)

    def receive(self, pending: Pending, *, client: Client | None = None) -> Any:
        """The answer to what was sent on that connection."""
        try:
            return (client or self.client).receive(pending)
        except DisconnectedError:
            return CLOSED

    def raw(self, key: int, version: int, body: bytes, *, flexible: bool = False) -> bytes | str:
        """The undecoded answer to a hand-made body, without its header."""
        client = self.new_client()
        try:
            return client.raw(key, version, body, flexible)[4:]
        except DisconnectedError:
            return CLOSED

    def until(self, check: Callable[[], T | None], what: str = "the expected state") -> T:
        """Repeat `check` until it is true."""
        limit = self.now_s() + self.target.patience_s
        while self.now_s() < limit:
            if found := check():
                return found
            self.target.network.sleep(0.02)
        raise TimeoutError(f"timed out waiting for {what}")

    # Setting up

    def topic(
        self,
        base: str = "t",
        partitions: int = 1,
        *,
        replicas: Sequence[Sequence[int]] | None = None,
        configs: Mapping[str, str] | None = None,
    ) -> str:
        """Create a topic and wait for its leaders; `replicas` are broker ranks per partition."""
        name = self.name(base)
        placed = replicas or [[0]] * partitions
        # Some brokers that are alone ignore assignments.
        counted = replicas is None and len(self.target.nodes) == 1
        nodes = [[self.node(rank) for rank in ranks] for ranks in placed]
        fields = requests.new_topic(name, partitions, 1, None if counted else nodes, configs)
        if self._can_only_be_auto_created(replicas, configs):
            return self._auto_created(name, partitions)
        made = self.call("create_topics", requests.create_topics(fields))
        if made["topics"][0]["error_code"] != "NONE":
            raise AssertionError(f"topic {name} could not be created: {made['topics'][0]}")
        self._await_leaders(name, placed)
        return name

    def _can_only_be_auto_created(
        self, replicas: Sequence[Sequence[int]] | None, configs: Mapping[str, str] | None
    ) -> bool:
        plain = not configs and (replicas is None or list(replicas) == [[0]])
        return plain and not self.target.supported("create_topics")

    def _auto_created(self, name: str, partitions: int) -> str:
        """For brokers without CreateTopics. LacksApiError if the topic gets fewer partitions."""
        fields = {"topics": [{"name": name}], "allow_auto_topic_creation": True}

        def made() -> Any:
            (topic,) = self.call("metadata", fields)["topics"]
            return topic["partitions"] if topic["error_code"] == "NONE" else None

        if len(found := self.until(made, f"the topic {name}, which is created automatically")) < partitions:
            raise LacksApiError(self.target.lacking("create_topics"))
        self._await_leaders(name, [[self._rank(each["leader_id"])] for each in found])
        return name

    def _rank(self, node: int) -> int:
        return [each for each, _, _ in self.target.nodes].index(node)

    def _await_leaders(self, name: str, placed: Sequence[Sequence[int]]) -> None:
        self.forget_later(name)
        for rank in range(len(self.target.nodes)):
            with self.target.client(*self.target.nodes[rank][1:]) as client:
                self.until(partial(self._ready, name, len(placed), client), f"leaders of {name} in Metadata")
        for index, ranks in enumerate(placed):
            _, host, port = self.target.nodes[ranks[0]]
            with self.target.client(host, port) as client:
                self.until(partial(self._led, name, index, client), f"the leader of {name}-{index}")

    def _led(self, name: str, partition: int, client: Client) -> bool:
        return self.offset(name, partition, client=client) is not None

    def offset(
        self, name: str, partition: int = 0, timestamp: int = -1, *, client: Client | None = None
    ) -> int | None:
        """The log end offset, or what else ListOffsets finds; None when it answers with an error."""
        part = {"partition_index": partition, "current_leader_epoch": -1, "timestamp": timestamp}
        fields = {
            "replica_id": -1,
            "isolation_level": 0,
            "topics": [{"name": name, "partitions": [part]}],
        }
        found = self.call("list_offsets", fields, client=client)["topics"][0]["partitions"][0]
        return int(found["offset"]) if found["error_code"] == "NONE" else None

    def stored(self, name: str, partition: int = 0) -> list[dict[str, Any]] | None:
        """The batches of a partition from its start on, without their bytes."""
        part = {"partition": partition, "fetch_offset": self.offset(name, partition, -2)}
        part |= {"partition_max_bytes": 1_000_000}
        topic = {"topic": name, "topic_id": self.topic_id(name), "partitions": [part]}
        fields = {"max_wait": 0, "max_bytes": 1_000_000, "session_epoch": -1, "topics": [topic]}
        found = self.call("fetch", fields)["responses"][0]["partitions"][0]
        return batches.describe(found["records"])

    def described(self, name: str, *, client: Client | None = None) -> Any:
        """The topic's entry in Metadata."""
        return self.call("metadata", requests.metadata(name), client=client)["topics"][0]

    def delete_topic(self, name: str, *, client: Client | None = None) -> None:
        self.call("delete_topics", requests.delete_topics(name), client=client)

    def delete_records(self, name: str, offset: int) -> None:
        """Those of partition 0 below `offset`."""
        self.call("delete_records", requests.delete_records(name, offset))

    def configure(self, kind: int, name: str, **configs: str | None) -> Any:
        """Sets configurations of a resource, with underscores for dots, or deletes those that are None."""
        fields = requests.configure(kind, name, requests.dotted(configs))
        return self.call("incremental_alter_configs", fields)

    def forget_later(self, name: str) -> None:
        """Delete this topic when the question is over."""
        if name not in self._topics:
            self._topics.append(name)

    def _ready(self, name: str, partitions: int, client: Client) -> bool:
        topic = self.described(name, client=client)
        if topic.get("topic_id"):
            self._topic_ids[name] = topic["topic_id"]
            self.normaliser.name_topic_id(topic["topic_id"], name.removesuffix(f"-{self.suffix}"))
        led = [
            each for each in topic["partitions"] if each["error_code"] == "NONE" and each["leader_id"] >= 0
        ]
        full = all(len(each["isr_nodes"]) == len(each["replica_nodes"]) for each in led)
        return len(led) == partitions and full

    def topic_id(self, name: str) -> uuid.UUID:
        """Id of a topic made here."""
        return self._topic_ids[name]

    def topic_ref(self, name: str, key: str = "name") -> dict[str, Any]:
        """Name and id of a topic, for APIs whose newer versions use ids."""
        return {key: name, "topic_id": self._topic_ids.get(name, UNKNOWN_TOPIC_ID)}

    def produce(self, topic: str, data: bytes, partition: int = 0, *, client: Client | None = None) -> int:
        """Append `data` with acks=-1; the base offset."""
        part = {"index": partition, "records": data}
        fields = {
            "acks": -1,
            "timeout": 10000,
            "topic_data": [{**self.topic_ref(topic), "partition_data": [part]}],
        }
        answer = self.call("produce", fields, client=client)
        (result,) = answer["responses"][0]["partition_responses"]
        if result["error_code"] != "NONE":
            raise AssertionError(f"could not produce to {topic}: {result}")
        return int(result["base_offset"])

    def fill(self, topic: str, *counts: int, partition: int = 0) -> None:
        """Append one batch of each number of records."""
        for count in counts:
            self.produce(topic, batches.batch(count), partition)

    def producer_id(self) -> int:
        """A fresh producer id."""
        asked = {"transactional_id": None, "transaction_timeout": 60000}

        def fresh() -> dict[str, Any] | None:
            answer: dict[str, Any] = self.call("init_producer_id", asked)
            return answer if answer["error_code"] == "NONE" else None

        answer = self.until(fresh, "a producer id")
        self.normaliser.name_producer(answer["producer_id"])
        return int(answer["producer_id"])
