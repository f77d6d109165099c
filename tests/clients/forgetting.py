"""Producers that one partition forgets, or whose records it loses, and in words what they do then."""

from __future__ import annotations

import itertools
import logging
import threading
from concurrent.futures import Future
from typing import Any, Final, NamedTuple

from confluent_kafka import KafkaException, Producer

from mockbroker import MockCluster
from mockbroker.cluster.cluster import Cluster
from mockbroker.cluster.topic import TopicPartition
from mockbroker.protocol import record_batch

from .java_producers import JavaProducers, Reply
from .scenario import TIMEOUT

TOPIC: Final = "t"
UNCLEAN: Final = {"replica.lag.time.max.ms": "100", "unclean.leader.election.enable": "true"}
AS_2_3: Final = {
    "epoch-bump": "by-new-instance",
    "producer-state-retention": "with-records",
    "transaction-verification": "none",
    "unknown-producer": "unknown-producer-id",
}
BROKERS: Final[dict[str, tuple[str, dict[str, str]]]] = {
    **{kafka: (kafka, {}) for kafka in ("0.11", "1.0", "2.3", "2.4", "4.4")},
    "4.4 as 2.3": ("4.4", AS_2_3),
}
"""Columns of the page: a release and policies."""
IN_TRANSACTION: Final = ", transaction"
JAVAS: Final = ("Java 2.3.1", "Java 2.8.2", "Java 4.4.0")
CONFLUENT: Final = "librdkafka"
CLIENTS: Final = (CONFLUENT, *JAVAS, *(java + IN_TRANSACTION for java in JAVAS))
"""Rows of the page."""
NOT_UNDERSTOOD: Final = "–"

GOES_ON: Final = "goes on"
_numbers = itertools.count()


def speaks(client: str, broker: str) -> bool:
    """Whether the client can talk to the broker: Java 4.x needs 2.1 (KIP-896)."""
    return not (client.startswith("Java 4") and broker in ("0.11", "1.0"))


class Identity(NamedTuple):
    """As what a producer wrote, and the sequence that comes next."""

    producer_id: int
    epoch: int
    next_sequence: int


class Written(NamedTuple):
    """A record in the log, and as what it was written."""

    offset: int
    value: str
    identity: Identity


class JavaSender:
    """A producer of kafka-clients; a transactional one has a transaction open from the start."""

    def __init__(
        self,
        java: JavaProducers,
        bootstrap: str,
        transactional: bool = False,
        config: dict[str, str] | None = None,
    ) -> None:
        self.transactional = transactional
        self.name = f"p{next(_numbers)}"
        named = {"transactional.id": self.name} if transactional else {}
        self.producer = java.open(self.name, bootstrap, {**named, **(config or {})})
        if transactional:
            assert self.producer.ask("init") == self.producer.ask("begin") == Reply()

    def start(self, value: str) -> Future[Reply]:
        return self.producer.send(TOPIC, value)

    def close(self) -> None:
        self.producer.close()


class ConfluentSender:
    """librdkafka's producer, with one record under way. Every error that it tells here is the end of it."""

    transactional = False

    def __init__(self, bootstrap: str) -> None:
        self.producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "enable.idempotence": True,
                "linger.ms": 0,
                "reconnect.backoff.ms": 20,
                "reconnect.backoff.max.ms": 20,
                "retry.backoff.ms": 20,
                "topic.metadata.refresh.fast.interval.ms": 20,
                "topic.metadata.refresh.interval.ms": 50,
                "logger": logging.getLogger(__name__),
            }
        )
        self.waiting: Future[Reply] = Future()
        self.closed = threading.Event()
        self.poller = threading.Thread(target=self.poll)
        self.poller.start()

    def poll(self) -> None:
        while not self.closed.is_set():
            try:
                self.producer.poll(0.02)
            except (KafkaException, SystemError):
                # A fatal error is raised from wherever it is noticed.
                self.settle(Reply(error="fatal error"))

    def start(self, value: str) -> Future[Reply]:
        waiting: Future[Reply] = Future()
        self.waiting = waiting
        try:
            self.producer.produce(TOPIC, value, partition=0, on_delivery=self.delivered)
        except KafkaException:
            self.settle(Reply(error="fatal error"))
        return waiting

    def delivered(self, error: Any, message: Any) -> None:
        self.settle(Reply(error="fatal error") if error else Reply(message.offset()))

    def settle(self, reply: Reply) -> None:
        if not self.waiting.done():
            self.waiting.set_result(reply)

    def close(self) -> None:
        self.closed.set()
        self.poller.join()


Sender = JavaSender | ConfluentSender


class Scene:
    """A cluster whose topic has replicas on brokers 1 and 2, and a producer."""

    def __init__(self, cluster: MockCluster, sender: Sender) -> None:
        self.cluster = cluster
        self.sender = sender
        self.written: dict[tuple[int, int], Written] = {}
        """What a consumer that read along has read, by offset and leader epoch."""
        self.identity: Identity | None = None
        self._numbers = itertools.count()

    # -- what is done

    def acknowledged(self, count: int) -> None:
        """Sends so many records, each in a batch of its own."""
        for _ in range(count):
            value = f"a{next(self._numbers)}"
            assert self.told(value, self.send(value)) == GOES_ON

    def send(self, value: str) -> Reply:
        return self.sender.start(value).result(TIMEOUT)

    def delete_records(self) -> None:
        """Retention takes all that there is from the leader and the followers in step."""
        self.read()
        self.cluster.run(
            lambda core: _partition(core).at_leader.advance_log_start(_partition(core).log.high_watermark)
        )

    def read(self) -> None:
        """What a consumer would find now, below the high watermark."""
        self.written.update(self.cluster.run(_below_high_watermark))

    def end_offset(self, broker: int) -> int:
        """The log end offset of a replica."""
        return {each.broker: each.log_end_offset for each in self.cluster.replicas(TOPIC, 0)}[broker]

    # -- what is seen

    def told(self, value: str, reply: Reply) -> str:
        """What came of one record, in words."""
        if reply.error:
            return f"`{reply.error}`" if "Exception" in reply.error else reply.error
        self.read()
        found = [each for each in self.written.values() if each.value == value]
        if not any(each.offset == reply.offset for each in found):
            return "acknowledged, but not written"
        was, self.identity = self.identity, found[-1].identity
        return _change(was, found[-1]) + (", writes it twice" if len(found) > 1 else "")

    def afterwards(self, first: Reply) -> str:
        """What came of the record that was sent last, `b0`, and of those that follow."""
        if first.error and isinstance(self.sender, JavaSender):
            # It tells of the failure first, and then takes note of it (`Sender.failBatch`): before its thread
            # asks for metadata.
            assert self.sender.producer.ask("partitions", "__transaction_state") == Reply()
        words = [self.told("b0", first), self.told("b1", self.send("b1"))]
        if words[1] in (GOES_ON, words[0]):
            del words[1]
        text = ", then ".join(words)
        if isinstance(self.sender, JavaSender) and self.sender.transactional:
            return text + self.ended(self.sender)
        return text

    def ended(self, sender: JavaSender) -> str:
        """Commits, or aborts and begins anew."""
        producer = sender.producer
        if not producer.ask("commit").error:
            return ""
        if producer.ask("abort").error:
            return ", and can't abort"
        assert producer.ask("begin") == Reply()
        reply = self.send("c0")
        return ", and an abort is no help" if reply.error else f", aborts, then {self.told('c0', reply)}"


def _change(was: Identity | None, batch: Written) -> str:
    now = batch.identity
    if was is None or now == was._replace(next_sequence=was.next_sequence + 1):
        return GOES_ON
    assert now.next_sequence == 1, f"{now} after {was}"
    if now.producer_id != was.producer_id:
        return "takes a new producer id"
    if now.epoch == was.epoch:
        return "resets its sequence"
    assert now.epoch == was.epoch + 1
    return "bumps its epoch"


def _partition(core: Cluster) -> TopicPartition:
    return core.topics[TOPIC].partitions[0]


def _below_high_watermark(core: Cluster) -> dict[tuple[int, int], Written]:
    log = _partition(core).log
    found = {}
    for batch in log.read(log.start_offset, 1 << 30, log.high_watermark, True):
        header = record_batch.header_of(batch)
        if header.attributes & record_batch.CONTROL:
            continue
        # Here each batch has one record.
        (record,) = record_batch.records(batch)
        assert record.value is not None
        identity = Identity(header.producer_id, header.producer_epoch, header.base_sequence + 1)
        found[record.offset, header.leader_epoch] = Written(record.offset, record.value.decode(), identity)
    return found
