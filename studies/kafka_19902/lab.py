"""A cluster, one topic, one group, and the consumers of a case."""

import itertools
import re
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Self

from mockbroker import MockCluster
from mockbroker.cluster_options import unchecked
from mockbroker.protocol import record_batch
from mockbroker.rig.batches import Record, batch
from mockbroker.rig.client import Client as RawClient
from mockbroker.rig.waiting import LIMIT_S, wait_for

from ..clients import Client, Consumer
from .case import Case, Outcome
from .settings import SETTINGS

TOPIC: Final = "t"
GROUP: Final = "g"
STUCK_S: Final = 5.0
"""After so long a consumer that has not come to the end of the log is taken to be stuck."""
SETTLE_S: Final = 3.0
"""After so long a consumer is taken to wait for a broker to come back."""
RECOVER_S: Final = 15.0
"""So long it may take to hear of that: it has to refresh its metadata."""
DAY_MS: Final = 24 * 3600 * 1000
CONFIG: Final = {
    "broker.session.timeout.ms": "300",
    "group.initial.rebalance.delay.ms": "0",
    "log.initial.task.delay.ms": "0",
    "log.retention.check.interval.ms": "50",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "replica.lag.time.max.ms": "200",
}
KEEP: Final = {"retention.ms": "-1"}
_LIBRDKAFKA_NAME: Final = re.compile(r"\[[^]]*#consumer-\d+\] \[thrd:[^]]*\]: ")
_RESET_SAID: Final = ("Resetting offset for partition", "offset reset (at")
_REBALANCE_SAID: Final = "cached metadata has changed"
_ABOUT_POSITIONS: Final = (
    *_RESET_SAID,
    "Fetch position",
    "Truncation detected",
    _REBALANCE_SAID,
)


class Lab:
    """Everything that a mechanism needs to happen. A context manager."""

    def __init__(self, client: Client, case: Case, kafka: str = "3.9") -> None:
        self.client, self.case = client, case
        self.days_ago = 0
        """How old records are when they are produced."""
        self._kafka = kafka
        self._values = itertools.count()
        self._seen: set[int] = set()
        self._consumers: list[Consumer] = []
        self.cluster: MockCluster

    def __enter__(self) -> Self:
        self._start()
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self.close_all()
        finally:
            self.cluster.stop()

    def _start(self) -> None:
        self.cluster = MockCluster(
            kafka=unchecked(self._kafka), config=CONFIG, policies=unchecked(self.case.policies)
        )
        self.cluster.start()

    # -- the broker's side

    def create_topic(self, topic: str = TOPIC, *, leader: int = 2, unclean: bool = False) -> None:
        """Makes a topic with one partition, on all three brokers."""
        config = {**KEEP, "unclean.leader.election.enable": str(unclean).lower()}
        replicas = [(leader - 1 + i) % 3 + 1 for i in range(3)]
        self.cluster.run(lambda core: core.create_topic(topic, [replicas], config))

    def produce(
        self, count: int, *, topic: str = TOPIC, days_ago: int | None = None, broker: int | None = None
    ) -> list[int]:
        """Appends records, acknowledged by the leader alone; their numbers, which go up through the case."""
        timestamp = int(time.time() * 1000) - (self.days_ago if days_ago is None else days_ago) * DAY_MS
        values = list(itertools.islice(self._values, count))
        records = [Record(b"%d" % value, timestamp=timestamp) for value in values]
        data = [{"index": 0, "records": batch(records)}]
        fields = {"acks": 1, "timeout": 1000, "topic_data": [{"name": topic, "partition_data": data}]}
        with self._ask(broker or self.leader(topic)) as raw:
            answer = raw.call("produce", 9, fields)
        (result,) = answer["responses"][0]["partition_responses"]
        if result["error_code"] != "NONE":
            raise RuntimeError(f"produce: {result['error_code']}")
        return values

    def leader(self, topic: str = TOPIC) -> int:
        return self.cluster.run(lambda core: core.topics[topic].partitions[0].leader)

    def lead(self, broker: int) -> None:
        """A clean election."""
        self.cluster.run(lambda core: core.topics[TOPIC].partitions[0].lead(broker))

    def alone(self, *followers: int) -> None:
        """Followers fall behind until they are out of the ISR: what is appended now, only the leader has."""
        for follower in followers:
            self.cluster.pause_follower(TOPIC, 0, follower)
        # One that lacks nothing is in sync, however long ago it fetched.
        self.produce(1)
        wait_for(f"{followers} to leave the ISR", lambda: not set(followers) & set(self.isr()))

    def isr(self) -> list[int]:
        return self.cluster.run(lambda core: list(core.topics[TOPIC].partitions[0].isr))

    def retain(self, days: int, log_start: int) -> None:
        """Retention deletes what is older, once."""
        config = {"retention.ms": str(days * DAY_MS)}
        self.cluster.run(lambda core: core.topics[TOPIC].configure(config))
        wait_for(f"retention to delete up to {log_start}", lambda: self.log_start() == log_start)
        self.cluster.run(lambda core: core.topics[TOPIC].configure(KEEP))

    def log_start(self) -> int:
        return self.cluster.run(lambda core: core.topics[TOPIC].partitions[0].log.start_offset)

    def committed(self) -> tuple[int, int]:
        """(offset, leader epoch), as the coordinator has them."""

        def look(core: Any) -> tuple[int, int]:
            found = core.coordinator(GROUP).groups.groups[GROUP].offsets.committed[TOPIC, 0]
            return found.offset, found.leader_epoch

        return self.cluster.run(look)

    def commit_from_outside(self, offset: int, epoch: int | None = None, topic: str = TOPIC) -> None:
        """Without an epoch as clients did up to Kafka 2.0: OffsetCommit has no field for it before v6."""
        version = 5 if epoch is None else 6
        committed = {"partition_index": 0, "committed_offset": offset, "committed_metadata": ""}
        if epoch is not None:
            committed["committed_leader_epoch"] = epoch
        fields = {
            "group_id": GROUP,
            "generation_id_or_member_epoch": -1,
            "topics": [{"name": topic, "partitions": [committed]}],
        }
        with self._ask(1) as raw:
            answer = raw.call("offset_commit", version, fields)
        (result,) = answer["topics"][0]["partitions"]
        if result["error_code"] != "NONE":
            raise RuntimeError(f"offset commit: {result['error_code']}")

    def cut_off_leader(self) -> None:
        """Broker 2 hears nobody any more, nor they it; clients reach it. Another becomes the leader."""
        self.cluster.cut_off(2)
        wait_for("another leader", lambda: self.leader() != 2)

    def make_again(self) -> None:
        """Deletes the topic and makes one of the same name."""
        self.cluster.run(lambda core: core.delete_topics([core.topics[TOPIC]]))
        self.create_topic()

    def _ask(self, broker: int) -> RawClient:
        return RawClient("127.0.0.1", self.ports()[broker - 1])

    def ports(self) -> list[int]:
        """Of broker 1, 2 and 3."""
        return [int(each.rpartition(":")[2]) for each in self.cluster.bootstrap_servers.split(",")]

    # -- the consumers' side

    def open(
        self, name: str = "b", topics: Sequence[str] = (TOPIC,), config: Mapping[str, str] | None = None
    ) -> Consumer:
        """Starts a consumer of the group; settings of the case come before `config`. Partitions go to
        consumers in the order of their names."""
        setting = SETTINGS.get(self.case.setting)
        settings = {
            "auto.offset.reset": self.case.reset,
            **(config or {}),
            **(setting.config if setting else {}),
        }
        servers = self.cluster.bootstrap_servers
        unique = f"{name}-{uuid.uuid4().hex[:8]}"
        consumer = self.client.open(unique, servers, topics, GROUP, self.case.commit, settings)
        self._consumers.append(consumer)
        return consumer

    def read_all(self) -> Consumer:
        """The consumer that was there before: it has read the whole log."""
        self.begin_at_start()
        consumer = self.open("a")
        self.catch_up(consumer)
        return consumer

    def begin_at_start(self, *topics: str) -> None:
        """The group has offset 0, whatever `auto.offset.reset` says."""
        for topic in topics or (TOPIC,):
            self.commit_from_outside(0, topic=topic)

    def catch_up(self, consumer: Consumer, *topics: str) -> None:
        """Waits until it has read all in the topic (or others) that others have not."""
        wanted = {value for topic in topics or (TOPIC,) for _, value in self.log(topic)}
        wanted -= self._read_by_others(consumer)
        if not consumer.wait(lambda: wanted <= {record.value for record in consumer.records}):
            raise TimeoutError(f"{len(consumer.records)} of {len(wanted)} records came: {consumer.log}")

    def _read_by_others(self, consumer: Consumer) -> set[int]:
        others = [other for other in self._consumers if other is not consumer]
        return self._seen.union(*({record.value for record in other.records} for other in others))

    def close(self, consumer: Consumer) -> None:
        """The consumer leaves: its partitions are taken away, and it commits."""
        self._consumers.remove(consumer)
        self.client.close(consumer)
        self._seen |= {record.value for record in consumer.records}

    def close_all(self) -> None:
        for consumer in list(self._consumers):
            self.close(consumer)

    def log(self, topic: str = TOPIC) -> list[tuple[int, int]]:
        """(offset, number) of the records that consumers can read from the leader."""

        def look(core: Any) -> Iterator[tuple[int, int]]:
            log = core.topics[topic].partitions[0].log
            for each in itertools.chain.from_iterable(map(record_batch.records, log.batches)):
                if log.start_offset <= each.offset < log.high_watermark:
                    yield each.offset, int(bytes(each.value or b""))

        return self.cluster.run(lambda core: list(look(core)))

    def answer(self, epoch: int) -> tuple[int, int] | None:
        """What the leader answers when it is asked where `epoch` ends."""
        if epoch < 0:
            return None
        return self.cluster.run(
            lambda core: core.topics[TOPIC].partitions[0].at_leader.end_offset_for_epoch(epoch)
        )

    def notice(self, consumer: Consumer, limit_s: float = LIMIT_S) -> None:
        """The consumer gets to know the leader and waits at the end of its log, or gives up."""
        wait_for(f"{consumer.name}", lambda: bool(consumer.raised) or self._at_end(consumer), limit_s)

    def take_over(self) -> Outcome:
        """Another consumer of the group gets the partition."""
        return self.watch(self.open(), self.committed())

    def rejoin(self, consumer: Consumer) -> bool:
        """Broker 2 comes back, once the consumer has settled, be it there. A consumer that knows of a newer
        leader may ask broker 2 for it again and again, and settle only then: False."""
        consumer.wait(lambda: bool(consumer.raised) or f"{TOPIC}-0" in consumer.assigned)
        settled = True
        try:
            wait_for(
                f"{consumer.name} to settle",
                lambda: bool(consumer.raised) or self._at_end(consumer) or self._at_end(consumer, broker=2),
                SETTLE_S,
            )
        except TimeoutError:
            settled = False
        self.cluster.rejoin(2)
        return settled

    def watch(
        self, consumer: Consumer, position: tuple[int, int], *, already: int = 0, waited: bool = False
    ) -> Outcome:
        """Follows a consumer to the end of the log; it had read `already` records before."""
        answer = self.answer(position[1])
        limit_s = RECOVER_S if waited else STUCK_S
        stuck = not self._settled(consumer, limit_s)
        wanted = {value for _, value in self.log()}
        if not stuck and not consumer.raised:
            (marker,) = self.produce(1)
            stuck = not consumer.wait(lambda: bool(consumer.raised) or consumer.has_read(marker), limit_s)
        before = self._read_by_others(consumer) | {record.value for record in consumer.records[:already]}
        after = [record for record in consumer.records[already:] if record.topic == TOPIC]
        values = {record.value for record in after}
        return Outcome(
            position=position,
            answer=answer,
            first=after[0].offset if after else None,
            again=len(values & before),
            lost=len(wanted - values - before),
            reset=was_reset(consumer),
            raised=consumer.raised,
            stuck=stuck and not consumer.raised,
            waited=waited,
            log=tuple(_plain(line, self) for line in _about_positions(consumer.log)),
        )

    def _settled(self, consumer: Consumer, limit_s: float) -> bool:
        """Whether it waits at the end of the log, or gave up."""
        try:
            self.notice(consumer, limit_s)
        except TimeoutError:
            return False
        return True

    def _at_end(self, consumer: Consumer, broker: int | None = None) -> bool:
        """Whether a fetch of the consumer waits for more at the leader, or at one that was cut off."""

        def look(core: Any) -> bool:
            partition = core.topics[TOPIC].partitions[0]
            known = partition.led if broker is None else partition.at(broker)
            # What waits there is the method of a Fetch that can't be answered yet.
            waiting = [each.__self__.call.client_id for each in known.waiting] if known else []
            return consumer.name in waiting

        return self.cluster.run(look)


def was_reset(consumer: Consumer) -> bool:
    """Whether its position in partition 0 was reset, by its own words."""
    return any(said in line for line in _about_positions(consumer.log) for said in _RESET_SAID)


def _about_positions(log: Iterable[str]) -> list[str]:
    """Those about partition 0."""
    return [
        line
        for line in log
        if any(said in line for said in _ABOUT_POSITIONS)
        and (f"{TOPIC}-0" in line or f"{TOPIC} [0]" in line or _REBALANCE_SAID in line)
    ]


def _plain(line: str, lab: Lab) -> str:
    """A line of a client's log without what differs from run to run."""
    for broker, port in enumerate(lab.ports(), 1):
        line = line.replace(f"127.0.0.1:{port}", f"broker{broker}:9092")
    return _LIBRDKAFKA_NAME.sub("", line)
