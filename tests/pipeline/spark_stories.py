"""What happens to a topic while Spark reads it: each is told to queries that have read `a b c` before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions, NewTopic

from mockbroker import ApiName, FaultAction, MockCluster
from mockbroker.rig.waiting import wait_for
from mockbroker.server.fault_control import FaultHandle

from .spark_queries import TOPIC, Stream

TIMEOUT: Final = 30.0
CONFIG: Final = {"replica.lag.time.max.ms": "100", "unclean.leader.election.enable": "true"}


class Scene:
    """A topic of one partition on brokers 1 and 2, and queries that read it."""

    def __init__(self, cluster: MockCluster) -> None:
        self.cluster = cluster
        self.streams: list[Stream] = []
        self._undecided: list[Producer] = []
        self._bootstrap: dict[str, Any] = {"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0}
        self._admin = AdminClient(self._bootstrap)
        cluster.run(lambda core: core.create_topic(TOPIC, [[1, 2]]))

    def producer(self, **config: Any) -> Producer:
        return Producer({**self._bootstrap, "linger.ms": 0, **config})

    def begin_transaction(self, values: str) -> None:
        """With these in the log."""
        producer = self.producer(**{"transactional.id": "x"})
        producer.init_transactions(TIMEOUT)
        producer.begin_transaction()
        for value in values.split():
            producer.produce(TOPIC, value)
        assert producer.flush(TIMEOUT) == 0
        self._undecided.append(producer)

    def abort(self) -> None:
        self._undecided.pop().abort_transaction(TIMEOUT)

    def go_on(self) -> None:
        """What is undecided is committed, and `z` comes."""
        while self._undecided:
            self._undecided.pop().commit_transaction(TIMEOUT)
        self.send("z")

    def send(self, values: str, partition: int = 0, acks: int = -1) -> None:
        producer = self.producer(acks=acks)
        for value in values.split():
            producer.produce(TOPIC, value, partition=partition)
        assert producer.flush(TIMEOUT) == 0

    def send_to_leader_alone(self, values: str) -> None:
        self.cluster.pause_follower(TOPIC, 0, 2)
        self.send(values, acks=1)
        wait_for("the ISR to shrink", lambda: not self.cluster.replicas(TOPIC, 0)[1].in_sync)

    def read(self) -> list[str]:
        """What each query reads now."""
        for stream in self.streams:
            stream.start_again()
        return [stream.read() for stream in self.streams]

    def stop(self) -> None:
        for stream in self.streams:
            stream.stop()

    def begin(self, values: str = "a b c") -> None:
        """The queries have read these, and rest."""
        self.send(values)
        self.has_read(values)

    def has_read(self, values: str) -> None:
        assert self.read() == [values] * len(self.streams)
        self.stop()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """They have planned a batch and ask for its records, which they get when the block ends."""
        fetches = self.fail_each("hold", api="Fetch")
        for stream in self.streams:
            stream.start()
        for fetch in fetches:
            fetch.wait(timeout=TIMEOUT)
        yield
        for fetch in fetches:
            fetch.release()

    def fail_each(self, do: FaultAction, *, api: ApiName, times: int = 1, **given: Any) -> list[FaultHandle]:
        """A fault for each query."""
        return [
            self.cluster.faults.add(do, api=api, times=times, client_id=f"{stream.name}*", **given)
            for stream in self.streams
        ]

    def delete_records(self, offset: int, partition: int = 0) -> None:
        (done,) = self._admin.delete_records([TopicPartition(TOPIC, partition, offset)]).values()
        assert done.result(TIMEOUT).low_watermark == offset

    def lose(self) -> None:
        """The leader goes down; its follower leads, and has what was replicated."""
        self.cluster.stop_broker(1)

    def delete_topic(self) -> None:
        (done,) = self._admin.delete_topics([TOPIC]).values()
        done.result(TIMEOUT)

    def create_topic(self) -> None:
        (done,) = self._admin.create_topics([NewTopic(TOPIC, 1, 2)]).values()
        done.result(TIMEOUT)

    def add_partition(self) -> None:
        (done,) = self._admin.create_partitions([NewPartitions(TOPIC, 2)]).values()
        done.result(TIMEOUT)


def moved(scene: Scene) -> None:
    scene.begin()
    scene.cluster.move_leader(TOPIC, 0, to=2)
    scene.send("d e")


def moved_in_batch(scene: Scene) -> None:
    scene.begin()
    scene.send("d e")
    with scene.reading():
        scene.cluster.move_leader(TOPIC, 0, to=2)


def stopped_in_batch(scene: Scene) -> None:
    scene.begin()
    scene.send("d e")
    with scene.reading():
        scene.cluster.stop_broker(1)


def some_deleted(scene: Scene) -> None:
    scene.begin()
    scene.send("d e f")
    scene.delete_records(5)


def all_deleted(scene: Scene) -> None:
    scene.begin()
    scene.send("d e f")
    scene.delete_records(6)


def some_deleted_in_batch(scene: Scene) -> None:
    scene.begin()
    scene.send("d e f")
    with scene.reading():
        scene.delete_records(5)


def all_deleted_in_batch(scene: Scene) -> None:
    scene.begin()
    scene.send("d e f")
    with scene.reading():
        scene.delete_records(6)


def truncated(scene: Scene) -> None:
    scene.send("a")
    scene.send_to_leader_alone("b c")
    scene.has_read("a b c")
    scene.lose()


def truncated_and_short(scene: Scene) -> None:
    truncated(scene)
    scene.send("x")


def truncated_and_past(scene: Scene) -> None:
    truncated(scene)
    scene.send("v w x y")


def truncated_in_batch(scene: Scene) -> None:
    scene.begin()
    scene.send_to_leader_alone("d e f")
    with scene.reading():
        scene.lose()


def recreated_and_short(scene: Scene) -> None:
    scene.begin()
    scene.delete_topic()
    scene.create_topic()
    scene.send("x")


def recreated_and_past(scene: Scene) -> None:
    scene.begin()
    scene.delete_topic()
    scene.create_topic()
    scene.send("v w x y z")


def topic_deleted(scene: Scene) -> None:
    scene.begin()
    scene.delete_topic()


def partition_added(scene: Scene) -> None:
    scene.begin()
    scene.add_partition()
    scene.send("x y", 1)


def partition_added_without_first(scene: Scene) -> None:
    partition_added(scene)
    scene.delete_records(1, 1)


def fetch_out_of_range(scene: Scene) -> None:
    scene.begin()
    scene.send("d e")
    scene.fail_each("error", api="Fetch", error="OFFSET_OUT_OF_RANGE")


def fetch_not_leader(scene: Scene) -> None:
    scene.begin()
    scene.send("d e")
    scene.fail_each("error", api="Fetch", error="NOT_LEADER_OR_FOLLOWER")


def offsets_unknown(scene: Scene) -> None:
    scene.begin()
    scene.send("d e")
    scene.fail_each("error", api="ListOffsets", error="UNKNOWN_SERVER_ERROR", times=2)


def offsets_unknown_for_long(scene: Scene) -> None:
    scene.begin()
    scene.send("d e")
    scene.fail_each("error", api="ListOffsets", error="UNKNOWN_SERVER_ERROR", times=3)


def old_end(scene: Scene) -> None:
    scene.begin()
    scene.send("d e")
    scene.fail_each("replace", api="ListOffsets", field="partitions.offset", value=1, times=2)


def old_end_for_long(scene: Scene) -> None:
    scene.begin()
    scene.send("d e")
    scene.fail_each("replace", api="ListOffsets", field="partitions.offset", value=1, times=3)


def aborted(scene: Scene) -> None:
    scene.begin()
    scene.send("d")
    scene.begin_transaction("x y")
    scene.abort()
    scene.send("e")


def all_aborted(scene: Scene) -> None:
    scene.begin()
    scene.begin_transaction("x y")
    scene.abort()


def undecided(scene: Scene) -> None:
    scene.begin()
    scene.begin_transaction("d e")
    scene.send("f")


class Story(NamedTuple):
    """`tell` is what happens, under the title that the page has."""

    title: str
    tell: Callable[[Scene], None]
    options: Mapping[str, str] = {}


IMPATIENT: Final = {"kafkaConsumer.pollTimeoutMs": "2000"}
STORIES: Final = (
    Story("the leader moves", moved),
    Story("the leader moves during the batch", moved_in_batch),
    Story("the leader goes down during the batch", stopped_in_batch),
    Story("Fetch is answered NOT_LEADER_OR_FOLLOWER, once", fetch_not_leader),
    Story("`d e f` come, `d e` are deleted", some_deleted),
    Story("`d e f` come, `d e` are deleted during the batch", some_deleted_in_batch),
    Story("`d e f` come, all are deleted", all_deleted),
    Story("`d e f` come, all are deleted during the batch", all_deleted_in_batch),
    Story("Fetch is answered OFFSET_OUT_OF_RANGE, once", fetch_out_of_range),
    Story("`b c` are lost", truncated),
    Story("`b c` are lost, `x` comes", truncated_and_short),
    Story("`b c` are lost, `v w x y` come", truncated_and_past),
    Story("`d e f` come, and are lost during the batch", truncated_in_batch, IMPATIENT),
    Story("the topic is created again, `x` comes", recreated_and_short),
    Story("the topic is created again, `v w x y z` come", recreated_and_past),
    Story("the topic is deleted; `z` creates it again", topic_deleted),
    Story("a partition is added, with `x y`", partition_added),
    Story("a partition is added, with `x y`, and `x` is deleted", partition_added_without_first),
    Story("ListOffsets fails twice", offsets_unknown),
    Story("ListOffsets fails three times", offsets_unknown_for_long),
    Story("ListOffsets says twice that the log ends at 1", old_end),
    Story("ListOffsets says three times that the log ends at 1", old_end_for_long),
)
IN_TRANSACTIONS: Final = (
    Story("`d`, `x y` aborted, `e`", aborted),
    Story("`x y` aborted", all_aborted),
    Story("`d e` undecided until `z` comes, `f`", undecided),
)
