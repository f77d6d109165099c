"""A real cluster as applications, events and scenarios see a mock: what can be done by requests."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NoReturn, cast

import trio

from mockbroker.contents.values import (
    CommittedOffset,
    IsolationLevel,
    PartitionDescription,
    Record,
    TopicDescription,
    TransactionOutcome,
)
from mockbroker.control import verbs
from mockbroker.control.clients import settings
from mockbroker.dumps.offsets_topic import OFFSETS
from mockbroker.errors import ConflictError, MockBrokerError, NotThereError
from mockbroker.faults import Fault, FaultError
from mockbroker.protocol import offsets_log, record_batch
from mockbroker.protocol.batch_writing import marker_of
from mockbroker.protocol.record_batch import CONTROL, TRANSACTIONAL
from mockbroker.proxying.proxy import Proxy
from mockbroker.server.serving import ServedCluster
from mockbroker.server.trace_control import TraceControl

from ..drivers.names import Names
from .asking import Asking

_INTERNAL: Final = "__"


class NotWithUpstreamError(MockBrokerError):
    """Only a mock can do this: `what`."""

    def __init__(self, what: str) -> None:
        super().__init__(f"not with an upstream: {what}")


class _Faults:
    """The faults of the proxy."""

    def __init__(self, proxy: Proxy, names: Names) -> None:
        self._proxy, self._names = proxy, names

    def add(self, do: str, **given: Any) -> Fault:
        """NotWithUpstreamError for a fault that only a mock can bring about."""
        try:
            return self._proxy.add_fault(do=do, **self._names.there(given))
        except FaultError as error:
            raise NotWithUpstreamError(f"the fault {do}") from error

    def clear(self) -> None:
        for each in list(self._proxy.faults):
            self._proxy.remove_fault(each)


class UpstreamCluster:
    """Takes the place of a `ServedCluster`. Names are those of a plan; the cluster has them with a prefix.
    Whatever else a mock can do raises NotWithUpstreamError. To be used in trio."""

    def __init__(self, proxy: Proxy, asking: Asking, names: Names) -> None:
        self._proxy, self._asking, self._names = proxy, asking, names
        self.faults = _Faults(proxy, names)
        self.failures: list[Exception] = []
        self.trace = TraceControl(lambda function: function(None), _refuse, proxy.trace)
        self._began = self._ends(OFFSETS)

    def __getattr__(self, name: str) -> NoReturn:
        raise NotWithUpstreamError(name.removesuffix("_async").replace("_", "-"))

    @property
    def as_cluster(self) -> ServedCluster:
        return cast(ServedCluster, self)

    @property
    def bootstrap_servers(self) -> str:
        return self._proxy.bootstrap_servers

    def do(self, function: Callable[..., Any], *given: Any, **_: Any) -> Any:
        """What an operation of the control API does: of these there is only how to configure a client."""
        if function is not settings:
            raise NotWithUpstreamError(given[0] if function is verbs.do else function.__name__)
        return {"bootstrap.servers": self.bootstrap_servers, "security.protocol": "PLAINTEXT"}

    def _is_well(self, *_: Any) -> NoReturn:
        """Nothing takes a broker away, so that none has to be brought back."""
        raise ConflictError("this broker is left alone")

    rejoin = start_broker = slow_metadata = _is_well

    def run_with_faults(self, function: Callable[[_Faults], Any]) -> Any:
        return function(self.faults)

    # -- topics

    def create_topic(
        self, topic: str, *, partitions: int, replication_factor: int, config: Mapping[str, str]
    ) -> None:
        """With as many replicas as the cluster has of topics that do not say it: `replication_factor` is the
        mock's."""
        self._asking.create(self._names.named(topic), partitions, config)

    def delete_topic(self, topic: str) -> None:
        self._asking.delete(self._names.named(topic))

    def topics(self) -> dict[str, TopicDescription]:
        prefix = self._names.prefix
        own = [each.removeprefix(prefix) for each in self._asking.topics() if each.startswith(prefix)]
        return {topic: self.topic(topic) for topic in own}

    def topic(self, topic: str) -> TopicDescription:
        """NotThereError."""
        name = self._names.named(topic)
        count = self._asking.topics().get(name)
        if count is None:
            raise NotThereError(f"no topic {topic!r}")
        partitions = tuple(self._partition(name, each) for each in range(count))
        return TopicDescription(topic, "", False, partitions)

    def _partition(self, name: str, partition: int) -> PartitionDescription:
        start, end = self._asking.bounds(name, partition)
        return PartitionDescription(partition, None, -1, (), (), start, end, end, end)

    # -- records

    async def produce_async(
        self, topic: str, value: bytes | str, *, key: str | None = None, partition: int = 0, acks: int = -1
    ) -> None:
        if topic.startswith(_INTERNAL):
            raise NotWithUpstreamError(f"a record in {topic}")
        sent = value.encode() if isinstance(value, str) else value
        name, keyed = self._names.named(topic), None if key is None else key.encode()
        await trio.to_thread.run_sync(self._asking.produce, name, partition, sent, keyed, acks)

    async def delete_records_async(
        self, topic: str, partition: int, before: int | None = None, **_: Any
    ) -> int:
        name = self._names.named(topic)
        return await trio.to_thread.run_sync(self._asking.delete_records, name, partition, before)

    def records(self, topic: str, *, isolation_level: IsolationLevel | None = None) -> list[Record]:
        """What is in a topic; of commits those of this run's groups since it began."""
        if topic == OFFSETS:
            return list(self._commits())
        name = self._names.named(topic)
        found: list[Record] = []
        for partition in range(self._asking.topics().get(name, 0)):
            start, _ = self._asking.bounds(name, partition)
            found += _records(topic, partition, self._asking.batches(name, partition, start))
        wanted = isolation_level != "read_committed"
        return [each for each in found if wanted or each.transaction in (None, "committed")]

    def _ends(self, topic: str) -> dict[int, int]:
        count = self._asking.topics().get(topic, 0)
        return {partition: self._asking.bounds(topic, partition)[1] for partition in range(count)}

    def _commits(self) -> Iterator[Record]:
        prefix = self._names.prefix
        for partition in range(self._asking.topics().get(OFFSETS, 0)):
            batches = self._asking.batches(OFFSETS, partition, self._began.get(partition, 0))
            for each in _records(OFFSETS, partition, batches):
                key = offsets_log.read_key(each.key or b"")
                if isinstance(key, offsets_log.CommitKey) and key.group.startswith(prefix):
                    group, topic = key.group.removeprefix(prefix), key.topic.removeprefix(prefix)
                    yield replace(each, key=offsets_log.commit_key(group, topic, key.partition))

    # -- groups

    def committed(self, group: str) -> dict[tuple[str, int], CommittedOffset]:
        found = self._asking.committed(self._names.named(group))
        return {
            (topic.removeprefix(self._names.prefix), partition): CommittedOffset(offset, None, "", -1)
            for (topic, partition), offset in found.items()
        }

    # -- the end

    def clean_up(self) -> Sequence[str]:
        """Deletes the topics and groups of this run, and returns what could not be deleted. OSError."""
        prefix, asking = self._names.prefix, self._asking
        asking.delete(*(each for each in asking.topics() if each.startswith(prefix)))
        left = [each for each in asking.topics() if each.startswith(prefix)]
        return [*left, *asking.delete_groups([e for e in asking.groups() if e.startswith(prefix)])]


def _records(topic: str, partition: int, batches: Iterator[bytearray]) -> Iterator[Record]:
    """Those of clients, with what became of their transactions: the markers are in the same log."""
    found: list[Record] = []
    open_: dict[int, list[int]] = {}
    outcomes: dict[int, TransactionOutcome] = {}
    for batch in batches:
        header = record_batch.parse_header(batch)
        if header.attributes & CONTROL:
            if (marker := marker_of(batch, header)) is not None:
                told: TransactionOutcome = "committed" if marker.committed else "aborted"
                outcomes.update(dict.fromkeys(open_.pop(header.producer_id, ()), told))
            continue
        transactional = bool(header.attributes & TRANSACTIONAL)
        for each in record_batch.record_list(header, bytes(batch)):
            if transactional:
                open_.setdefault(header.producer_id, []).append(each.offset)
                outcomes[each.offset] = "ongoing"
            found.append(
                Record(
                    topic,
                    partition,
                    each.offset,
                    each.key,
                    each.value,
                    (),
                    each.timestamp,
                    "CreateTime",
                    header.leader_epoch,
                )
            )
    return (replace(each, transaction=outcomes.get(each.offset)) for each in found)


def _refuse(_: str) -> NoReturn:
    raise NotWithUpstreamError("a wait for the trace")
