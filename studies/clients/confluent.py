"""confluent-kafka's consumer: librdkafka, a thread for each consumer."""

import logging
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Final

from .consumer import Commit, Consumer, Read

_RESET: Final = {"none": "error"}
_ASSIGNORS: Final = {
    "org.apache.kafka.clients.consumer.CooperativeStickyAssignor": "cooperative-sticky",
}
_NAMES: Final = {
    "client.rack": "client.rack",
    "max.poll.interval.ms": "max.poll.interval.ms",
    "metadata.max.age.ms": "topic.metadata.refresh.interval.ms",
    "session.timeout.ms": "session.timeout.ms",
}
"""Java's names of configurations, and librdkafka's."""
QUICK: Final = {
    "enable.auto.commit": False,
    "heartbeat.interval.ms": 100,
    "session.timeout.ms": 10_000,
    "fetch.wait.max.ms": 100,
    "fetch.error.backoff.ms": 20,
    "fetch.queue.backoff.ms": 20,
    "retry.backoff.ms": 20,
    "reconnect.backoff.ms": 20,
    "reconnect.backoff.max.ms": 20,
    "topic.metadata.refresh.fast.interval.ms": 20,
}
"""Makes a consumer act soon; leaves out nothing that it does."""


class _Polling(threading.Thread):
    """Polls one consumer until it is told to leave."""

    def __init__(
        self, watched: Consumer, topics: Sequence[str], commit: Commit, config: Mapping[str, Any]
    ) -> None:
        super().__init__(name=watched.name)
        from confluent_kafka import Consumer as RealConsumer

        self.watched, self.commit, self.leaving = watched, commit, threading.Event()
        self.positions: dict[tuple[str, int], int] = {}
        logger = logging.Logger(watched.name)
        logger.addHandler(_Log(watched))
        self.consumer = RealConsumer(dict(config), logger=logger)
        self.consumer.subscribe(list(topics), on_revoke=self._revoked)

    def run(self) -> None:
        while not self.leaving.is_set() and self.watched.raised is None:
            self._poll()
        self.leaving.wait()
        self.consumer.close()
        self.watched.note(closed=True)

    def _poll(self) -> None:
        message = self.consumer.poll(0.1)
        assigned = frozenset(f"{each.topic}-{each.partition}" for each in self.consumer.assignment())
        if assigned != self.watched.assigned:
            self.watched.note(assigned=assigned)
        if message is None:
            return
        if error := message.error():
            self.watched.note(raised=error.name(), log=error.str())
            return
        epoch = message.leader_epoch()
        topic, value = message.topic(), message.value()
        partition, offset = message.partition(), message.offset()
        assert topic is not None
        assert value is not None
        assert partition is not None
        assert offset is not None
        self.positions[topic, partition] = offset + 1
        read = Read(topic, partition, offset, -1 if epoch is None else epoch, int(value))
        self.watched.note(records=[read])

    def _revoked(self, consumer: Any, partitions: Sequence[Any]) -> None:
        from confluent_kafka import KafkaError, KafkaException, TopicPartition

        offsets = [
            TopicPartition(each.topic, each.partition, self.positions[each.topic, each.partition])
            for each in partitions
            if (each.topic, each.partition) in self.positions
        ]
        try:
            if self.commit is Commit.POSITION:
                consumer.commit(asynchronous=False)
            elif offsets:
                consumer.commit(offsets=offsets, asynchronous=False)
        except KafkaException as error:
            if error.args[0].code() != KafkaError._NO_OFFSET:  # nothing read since
                self.watched.note(raised=error.args[0].name(), log=error.args[0].str())


class _Log(logging.Handler):
    def __init__(self, watched: Consumer) -> None:
        super().__init__()
        self.watched = watched

    def emit(self, record: logging.LogRecord) -> None:
        self.watched.note(log=record.getMessage())


class ConfluentClient:
    """confluent-kafka as it is installed."""

    commits: tuple[Commit, ...] = (Commit.POSITION, Commit.NO_EPOCH)

    def __init__(self) -> None:
        import confluent_kafka

        self.name = f"librdkafka {confluent_kafka.libversion()[0]}"
        self._threads: dict[str, _Polling] = {}

    def open(
        self,
        name: str,
        bootstrap: str,
        topics: Sequence[str],
        group: str,
        commit: Commit,
        config: Mapping[str, str],
    ) -> Consumer:
        consumer = Consumer(name)
        settings = {_NAMES[key]: value for key, value in config.items() if key in _NAMES}
        reset = config["auto.offset.reset"]
        settings["auto.offset.reset"] = _RESET.get(reset, reset)
        if assignor := config.get("partition.assignment.strategy"):
            settings["partition.assignment.strategy"] = _ASSIGNORS[assignor]
        servers = {"bootstrap.servers": bootstrap, "group.id": group, "client.id": name}
        thread = _Polling(consumer, topics, commit, {**servers, **QUICK, **settings})
        self._threads[name] = thread
        thread.start()
        return consumer

    def close(self, consumer: Consumer) -> None:
        thread = self._threads.pop(consumer.name)
        thread.leaving.set()
        thread.join()

    def stop(self) -> None:
        for thread in self._threads.values():
            thread.leaving.set()
        for thread in self._threads.values():
            thread.join()
