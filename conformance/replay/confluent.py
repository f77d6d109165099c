"""confluent-kafka in the model clients' place: librdkafka.

Consumers are assigned the partition, as the model's are: they ask for the group's committed offset, and keep
what they know of leaders while they own nothing.
"""

import contextlib
import logging
import queue
import random
import re
import struct
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition, libversion

from mockbroker.protocol.errors import ErrorCode
from mockbroker.server.mock_cluster import MockCluster
from mockbroker.simulation.batches import Records, header_name, is_tombstone, key_bytes
from mockbroker.simulation.consumer import State
from mockbroker.simulation.consumer_setting import Commit, ConsumerSetting, Reset
from mockbroker.simulation.plan import Plan
from mockbroker.simulation.producer_setting import Generation, ProducerSetting
from mockbroker.simulation.scene import GROUP, TOPIC

from .instruments import RealConsumer, RealProducer
from .stage import Stage
from .watching import at

T = TypeVar("T")
_COMMIT_LIMIT_S: Final = 2.0
_METADATA_LIMIT_S: Final = 1.0
_POLL_S: Final = 0.05
_MOST: Final = 500
_NUMBER: Final = struct.Struct(">q")
_LIKE_THE_MODEL: Final = {
    "socket.timeout.ms": 1_600,
    "retry.backoff.ms": 100,
    "reconnect.backoff.ms": 100,
    "reconnect.backoff.max.ms": 100,
    "topic.metadata.refresh.fast.interval.ms": 100,
}
"""Nothing that it does is left out; it waits about as long as the model does."""
_CONSUMES: Final = {
    "enable.auto.commit": False,
    "fetch.wait.max.ms": 500,
    "fetch.error.backoff.ms": 100,
    "fetch.queue.backoff.ms": 20,
}
_COMMITS: Final = (Commit.POSITION, Commit.NO_EPOCH)
_OF_CONNECTIONS: Final = ("FAIL ", "ERROR ", "REQTMOUT ")
_NAMES: Final = re.compile(r"\[[^]]*#[^]]*\] \[thrd:[^]]*\]: ")


class Confluent:
    """confluent-kafka as it is installed."""

    def __init__(self) -> None:
        self.name = f"librdkafka {libversion()[0]}"

    def missing(self, plan: Plan) -> Iterator[str]:
        if plan.consumer.commit not in _COMMITS:
            yield f"it can't commit {plan.consumer.commit}: it commits {Commit.POSITION}"
        for each in plan.producers:
            if each.transactional:
                continue
            if each.generation in (Generation.V0_11, Generation.V1_0):
                yield f"it is no producer of generation {each.generation}: it has rules of its own (KIP-360)"
            if each.acks != -1 and each.generation is not Generation.PLAIN:
                yield f"an idempotent producer can't have acks={each.acks}: it has acks=-1"

    def consumer(
        self, cluster: MockCluster, stage: Stage, name: str, setting: ConsumerSetting
    ) -> RealConsumer:
        return _Consumer(cluster, stage, name, setting)

    def producer(
        self, cluster: MockCluster, stage: Stage, name: str, setting: ProducerSetting
    ) -> RealProducer:
        return _Producer(cluster, stage, name, setting)


class _Consumer(RealConsumer):
    """A thread does what the history asks of it, one thing after the other, and polls meanwhile."""

    def __init__(self, cluster: MockCluster, stage: Stage, name: str, setting: ConsumerSetting) -> None:
        super().__init__(stage, stage.consumption, name, GROUP, TOPIC, 0, setting)
        self._cluster, self._stage = cluster, stage
        self._partition = TopicPartition(TOPIC, 0)
        self._to_do: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._ended = False
        self._committing = 0
        self._knows_topic = False
        self._random = random.Random(f"{stage.plan.seed} {name}")
        config = {
            "bootstrap.servers": cluster.bootstrap_servers,
            "group.id": GROUP,
            "client.id": name,
            "auto.offset.reset": "error" if setting.reset is Reset.NONE else str(setting.reset),
            "isolation.level": "read_committed" if setting.read_committed else "read_uncommitted",
            "on_commit": self._committed,
            **_LIKE_THE_MODEL,
            **_CONSUMES,
        }
        self._consumer = Consumer(config, logger=_logger(self._in_cluster, self))
        self._thread = threading.Thread(target=self._run, name=name)
        self._thread.start()

    # -- in the cluster's thread

    def start(self) -> None:
        self.state, self.position = State.FETCHING, None
        self._to_do.put(self._own)

    def stop(self, commit: bool, then: Callable[[], None]) -> None:
        commit = commit and self.state is State.FETCHING and self.position is not None
        self.state, self.position = State.IDLE, None

        def leave() -> None:
            if commit:
                self._consumer.pause([self._partition])
                self._commit_position()
                end = time.monotonic() + _COMMIT_LIMIT_S
                while self._committing and time.monotonic() < end:
                    self._consumer.poll(_POLL_S)
                self._consumer.resume([self._partition])  # else it is paused when it is assigned again
            self._consumer.unassign()
            self._in_cluster(then)

        self._to_do.put(leave)

    def close(self) -> None:
        self._ended = True
        self._thread.join()

    # -- in its own thread

    def _own(self) -> None:
        if not self._knows_topic:
            # Else it would look for the partition's leader when its topics are looked at, once a second.
            self._knows_topic = True
            with contextlib.suppress(KafkaException):
                self._consumer.list_topics(TOPIC, _METADATA_LIMIT_S)
        self._consumer.assign([self._partition])

    def _run(self) -> None:
        while not self._ended:
            while not self._to_do.empty():
                self._to_do.get()()
            messages = self._consumer.consume(_MOST, _POLL_S)
            for error in filter(None, (each.error() for each in messages)):
                if error.code() == KafkaError._AUTO_OFFSET_RESET:
                    self._in_cluster(partial(self._gives_up, error))
                elif self._in_cluster(partial(self._begins_again, error)):
                    self._consumer.assign([self._partition])
            if read := [each for each in messages if each.error() is None]:
                self._in_cluster(partial(self._read, read))
                if self._random.random() < self._stage.plan.commit_rate:
                    self._commit_position()
        self._consumer.close()

    def _commit_position(self) -> None:
        try:
            if self.setting.commit is Commit.NO_EPOCH:
                (at_,) = self._consumer.position([self._partition])
                if at_.offset >= 0:
                    self._consumer.commit(offsets=[TopicPartition(TOPIC, 0, at_.offset)])
                    self._committing += 1
            else:
                self._consumer.commit()
                self._committing += 1
        except KafkaException as error:
            if error.args[0].code() != KafkaError._NO_OFFSET:  # nothing read since
                text = error.args[0].str()
                self._in_cluster(lambda: self.tell(f"can't commit: {text}"))

    def _committed(self, error: Any, partitions: Any) -> None:
        self._committing -= 1

    # -- in the cluster's thread, as told by its own

    def _read(self, messages: list[Any]) -> None:
        if self.state is not State.FETCHING:
            return  # it was stopped meanwhile, before the application had them
        for base, end, epoch, first in _runs(messages):
            numbers = range(first, first + end - base)
            self._stage.consumption.delivered(
                self, base, Records(base, end, epoch, range(base, end), numbers)
            )
            self.position = at(end, epoch)

    def _gives_up(self, error: Any) -> None:
        what = f"raises {error.name()}: {error.str()}"
        if self.position is None:
            self.tell(what)
        else:
            self._stage.consumption.lost_position(self, self.position, what)
        self.state = State.FAILED

    def _begins_again(self, error: Any) -> bool:
        """Whether the application has to begin again, since the committed offset could not be fetched."""
        self.tell(f"is told {error.name()}: {error.str()}")
        return self.state is State.FETCHING and self.position is None

    def _in_cluster(self, action: Callable[[], T]) -> T:
        return self._cluster.run(lambda _: action())


def _runs(messages: list[Any]) -> Iterator[tuple[int, int, int, int]]:
    """(first offset, end offset, epoch, first number) of messages that follow each other in all."""
    run: tuple[int, int, int, int] | None = None
    for message in messages:
        offset, epoch = message.offset(), message.leader_epoch()
        epoch, number = -1 if epoch is None else epoch, _number_of(message)
        if run is not None and (run[1], run[2], run[3] + run[1] - run[0]) == (offset, epoch, number):
            run = (run[0], offset + 1, epoch, run[3])
            continue
        if run is not None:
            yield run
        run = (offset, offset + 1, epoch, number)
    if run is not None:
        yield run


def _with_key(number: int) -> dict[str, Any]:
    """Key, value and headers of a record that is sent to a compacted topic."""
    return {
        "key": key_bytes(number),
        "value": None if is_tombstone(number) else b"",
        "headers": [(header_name(number), None)],
    }


def _number_of(message: Any) -> int:
    headers = message.headers()
    return int(headers[0][0], 16) if headers else int(_NUMBER.unpack(message.value())[0])


class _Producer(RealProducer):
    """Its thread waits for what comes of the records."""

    def __init__(self, cluster: MockCluster, stage: Stage, name: str, setting: ProducerSetting) -> None:
        idempotent = setting.generation is not Generation.PLAIN
        setting = replace(setting, acks=-1 if idempotent else setting.acks)
        super().__init__(stage, stage.production, name, TOPIC, 0, setting)
        self.idempotent = idempotent
        self._cluster, self._stage = cluster, stage
        self._ended = False
        config = {
            "bootstrap.servers": cluster.bootstrap_servers,
            "client.id": name,
            "acks": setting.acks,
            "enable.idempotence": idempotent,
            "max.in.flight.requests.per.connection": setting.in_flight if idempotent else 1,
            "linger.ms": 5,
            "error_cb": self._told_of,
            **_LIKE_THE_MODEL,
        }
        self._producer = Producer(config, logger=_logger(self._in_cluster, self))
        self._thread = threading.Thread(target=self._run, name=name)
        self._thread.start()

    @property
    def waiting(self) -> int:
        return 0 if self.failed else len(self._producer)

    def send(self, count: int) -> None:
        first = self._stage.production.number(self, count)
        if self.failed:
            return
        self.tell(f"sends records {first} to {first + count - 1}")
        try:
            for number in range(first, first + count):
                content = _with_key(number) if self._stage.plan.compacted else {"value": _NUMBER.pack(number)}
                self._producer.produce(TOPIC, partition=0, on_delivery=self._delivered(number), **content)
        except KafkaException as error:
            self._fails(error.args[0])

    def close(self) -> None:
        self._ended = True
        self._thread.join()

    def _run(self) -> None:
        while not self._ended:
            self._producer.poll(_POLL_S)

    def _delivered(self, number: int) -> Callable[[Any, Any], None]:
        def delivered(error: Any, message: Any) -> None:
            if error is None:
                offset = message.offset()
                self._in_cluster(lambda: self._stage.production.acknowledged(self, number, 1, offset))
            else:
                self._in_cluster(lambda: self._gives_up(number, error))

        return delivered

    def _gives_up(self, number: int, error: Any) -> None:
        self.tell(f"gives up record {number}: {error.str()}")
        self._fails(error)

    def _told_of(self, error: Any) -> None:
        if error.fatal():
            self._in_cluster(lambda: self._fails(error))

    def _fails(self, error: Any) -> None:
        self.failed = self.failed or error.fatal()
        if error.code() in iter(ErrorCode):
            self._stage.production.told(self, ErrorCode(error.code()))

    def _in_cluster(self, action: Callable[[], T]) -> T:
        return self._cluster.run(lambda _: action())


def _logger(in_cluster: Callable[[Callable[[], None]], None], client: RealConsumer | RealProducer) -> Any:
    logger = logging.Logger(client.name)
    logger.addHandler(_Log(in_cluster, client))
    return logger


class _Log(logging.Handler):
    """What the client logs, except about connections."""

    def __init__(
        self, in_cluster: Callable[[Callable[[], None]], None], client: RealConsumer | RealProducer
    ) -> None:
        super().__init__()
        self._in_cluster, self._client = in_cluster, client

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if not text.startswith(_OF_CONNECTIONS):
            self._in_cluster(partial(self._client.tell, f"logs: {_NAMES.sub('', text)}"))
