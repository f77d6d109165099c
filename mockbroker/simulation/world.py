"""Everything in one history: the cluster, the network, the model clients, and what is known of them."""

import functools
import random as stdlib_random
from collections.abc import Callable
from typing import Final

from ..cluster.cluster import Cluster
from ..cluster.partition import Partition
from ..environment import Environment
from ..policies import Policies
from ..protocol.errors import ErrorCode
from ..protocol.releases import parse
from . import batches, compacted
from .batches import key_of
from .consumer import ModelConsumer
from .consumption import Consumption
from .idempotent_producer import ABOUT_SEQUENCES, IdempotentProducer
from .ledger import Acknowledged, Ledger, Place, Violation
from .network import Network
from .plan import Plan
from .producer import Generation, ModelProducer, ProducerSetting
from .purger import Purger
from .timeline import VIOLATION, Timeline
from .transactional_producer import TransactionalProducer

TOPIC: Final = "t"
GROUP: Final = "g"
START_MS: Final = 1_700_000_000_000
_LOOK_MS: Final = 20
"""How often a timeline looks at the cluster."""
CONFIG: Final = {
    "broker.session.timeout.ms": "600",
    "group.initial.rebalance.delay.ms": "0",
    "log.initial.task.delay.ms": "0",
    "log.retention.check.interval.ms": "200",
    "offsets.retention.check.interval.ms": "300",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "3",
    "replica.lag.time.max.ms": "400",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "200",
    "transaction.state.log.num.partitions": "1",
    "zookeeper.session.timeout.ms": "600",
}


_RESTART_MS: Final = 400
"""After so long an application whose producer has ended starts another."""


class World:
    """The state of a history. `tell` keeps a timeline while `recording`; nothing else depends on that."""

    def __init__(self, plan: Plan, recording: bool = False, cluster: Cluster | None = None) -> None:
        """`cluster` is one that is there already, set as `settings` says, and has no topics yet."""
        self.plan = plan
        self.recording = recording
        self.random = stdlib_random.Random(plan.seed)
        self.cluster = cluster or _cluster(plan, self.random)
        self.start_ms = self.cluster.now_ms
        self.network = Network(self.cluster, self.random, plan.delay_ms, timeout_ms=1_000)
        self.bootstrap = tuple(self.cluster.brokers)
        self.ledger = Ledger()
        self.consumption = Consumption(self)
        self.violations: list[Violation] = []
        overrides = {
            "retention.ms": "-1",
            "min.insync.replicas": str(plan.min_insync),
            "unclean.leader.election.enable": str(plan.unclean).lower(),
            "cleanup.policy": plan.cleanup,
            "delete.retention.ms": str(plan.delete_retention_ms),
        }
        for index in range(plan.topics):
            replicas = [(index + each) % 3 + 1 for each in range(3)]
            self.cluster.create_topic(topic_name(index), [replicas], overrides)
        self.consumers = [
            ModelConsumer(self, f"consumer-{i + 1}", GROUP, TOPIC, 0, plan.consumer)
            for i in range(plan.consumers)
        ]
        self.newest: dict[str, TransactionalProducer] = {}
        """The last instance of each transactional id."""
        self.producers: list[ModelProducer] = []
        for i, setting in enumerate(plan.producers):
            self.producers.append(self._producer(f"producer-{i + 1}", setting, f"transactions-{i + 1}"))
        self.purger = Purger(self, "purger") if plan.purges else None
        self.owner: ModelConsumer | None = None
        self.timeline = Timeline(self.cluster, self.start_ms) if recording else None

    def _producer(self, name: str, setting: ProducerSetting, transactional_id: str) -> ModelProducer:
        if setting.transactional:
            made = TransactionalProducer(self, name, TOPIC, 0, setting, transactional_id)
            self.newest[transactional_id] = made
            return made
        plain = setting.generation is Generation.PLAIN
        return (ModelProducer if plain else IdempotentProducer)(self, name, TOPIC, 0, setting)

    @property
    def clients(self) -> list[ModelProducer | ModelConsumer]:
        """In the order in which steps count them."""
        first = len(self.plan.producers)
        return [*self.producers[:first], *self.consumers, *self.producers[first:]]

    @property
    def places(self) -> list[Place]:
        """Every partition that clients may use."""
        return [(topic_name(index), 0) for index in range(self.plan.topics)]

    # -- time and words

    @property
    def since_start_ms(self) -> int:
        return self.cluster.now_ms - self.start_ms

    def run_until(self, at_ms: int) -> None:
        """Lets everything happen that is due until then, counted from the start."""
        if self.timeline is not None:
            for between_ms in range(self.since_start_ms, at_ms, _LOOK_MS):
                self.cluster.advance(self.start_ms + between_ms)
                self.timeline.look()
        self.cluster.advance(self.start_ms + at_ms)

    def tell(self, who: str, text: str) -> None:
        if self.timeline is not None:
            self.timeline.tell(who, text)

    def violated(self, invariant: str, subject: str, text: str) -> None:
        self.violations.append(Violation(invariant, self.since_start_ms, subject, text))
        self.tell(VIOLATION, f"{invariant}: {text}")

    def partition(self, place: Place = (TOPIC, 0)) -> Partition:
        return self.cluster.topics[place[0]].partitions[place[1]]

    # -- what clients did

    def number(self, producer: ModelProducer, count: int) -> int:
        """The first of `count` new numbers."""
        writers = self.ledger.writers
        first = len(writers)
        writers += [producer.name if producer.idempotent else ""] * count
        return first

    def commits_due(self, consumer: ModelConsumer) -> bool:
        """Whether it commits now: now and then, as an application does."""
        return self.random.random() < self.plan.commit_rate

    def acknowledged(self, producer: ModelProducer, first: int, count: int, offset: int) -> None:
        """A producer was told that records are written, `offset` -1 when not where."""
        if self.recording:
            at = f"offset {offset}" if offset >= 0 else "an unknown offset"
            self.tell(producer.name, f"has records {first} to {first + count - 1} acknowledged at {at}")
        if producer.idempotent:
            self.ledger.once.update(range(first, first + count))
        acks = producer.setting.acks
        for index in range(count):
            at_offset = offset + index if offset >= 0 else -1
            told = Acknowledged(producer.place, at_offset, producer.name, acks)
            self.ledger.acknowledged[first + index] = told

    def producer_told(self, producer: ModelProducer, error: ErrorCode) -> None:
        """A producer tells its application of an error: spurious if it is about records that are not lost."""
        if self.recording:
            self.tell(producer.name, f"raises {error.name}")
        place = producer.place
        if (
            error not in ABOUT_SEQUENCES
            or self._fenced(producer)
            or place in self.ledger.real_loss
            or self.lost_records(producer.name)
        ):
            return
        self.violated(
            "spurious-out-of-order",
            f"{producer.name} {place[0]}-{place[1]}",
            f"{producer.name} is told {error.name}, though nothing that was acknowledged is lost",
        )

    def lost_records(self, writer: str | None = None) -> list[int]:
        """Numbers that were acknowledged and are not in the leader's log, and were not deleted there."""
        held = {place: self.numbers_in(self.partition(place)) for place in self.places}
        gone = {place: self.may_be_gone(place) for place in self.places} if self.plan.compacted else {}
        return [
            number
            for number, told in self.ledger.acknowledged.items()
            if writer in (None, told.writer)
            and number not in held[told.place]
            and not self._deleted(told.place, number)
            and not (gone and told.offset <= gone[told.place][key_of(number)])
        ]

    def may_be_gone(self, place: Place) -> list[int]:
        """The offset up to which records of each key may be gone from a compacted log."""
        log = self.partition(place).log
        deleted = min(log.start_offset, self.ledger.deleted_upto.get(place, 0)) - 1
        return compacted.may_be_gone(log, self.ledger.expired.get(place, {}), deleted)

    def _deleted(self, place: Place, number: int) -> bool:
        offset = self.ledger.deleted.get(place, {}).get(number)
        return offset is not None and offset < self.partition(place).log.start_offset

    # -- instances of a transactional id

    def new_instance(self, transactional_id: str) -> None:
        """Another instance starts, whatever the one before it is at."""
        newest = self.newest[transactional_id]
        name = f"{newest.name.partition('/')[0]}/{len(self.producers) + 1}"
        made = self._producer(name, newest.setting, transactional_id)
        assert isinstance(made, TransactionalProducer)
        self.producers.append(made)
        self.tell(name, f"starts as another instance of {transactional_id}")
        made.start()

    def producer_ended(self, producer: ModelProducer) -> None:
        """A producer can't go on: its application starts another, if it is the last of its instances."""
        if isinstance(producer, TransactionalProducer) and not self._superseded(producer):
            transactional_id = producer.transactional_id

            def restart() -> None:
                if self.newest[transactional_id] is producer:
                    self.new_instance(transactional_id)

            self.cluster.environment.after(_RESTART_MS, restart)

    def _superseded(self, producer: ModelProducer) -> bool:
        transactional_id = producer.transactional_id
        return transactional_id is not None and self.newest[transactional_id] is not producer

    def _fenced(self, producer: ModelProducer) -> bool:
        """Whether the coordinator has aborted its transaction, for a new instance or its timeout: then it is
        right to stop it, whatever it is told."""
        if not isinstance(producer, TransactionalProducer):
            return False
        coordinator = self.cluster.brokers.get(producer.transaction_coordinator(producer.transactional_id))
        known = dict(coordinator.transactions).get(producer.transactional_id) if coordinator else None
        return known is None or (known.producer_id, known.epoch) != (producer.producer_id, producer.epoch)

    def finish_transactions(self) -> None:
        """Producers commit what they are at."""
        for producer in self.producers:
            if isinstance(producer, TransactionalProducer):
                producer.end(commit=True)

    def numbers_in(self, partition: Partition) -> dict[int, list[int]]:
        """The offsets of each number in the leader's log."""
        offsets: dict[int, list[int]] = {}
        for batch in partition.log.batches:
            found = batches.read(batch)
            if found is not None:
                for offset, number in zip(found.offsets, found.numbers, strict=True):
                    offsets.setdefault(number, []).append(offset)
        return offsets

    # -- what steps did

    def deleted(self, partition: Partition, upto: int) -> None:
        """Records below an offset were deleted on purpose."""
        place = partition.topic.name, partition.index
        self.ledger.deleted_upto[place] = max(upto, self.ledger.deleted_upto.get(place, 0))
        deleted = self.ledger.deleted.setdefault(place, {})
        for number, offsets in self.numbers_in(partition).items():
            if offsets[0] < upto:
                deleted.setdefault(number, offsets[0])

    def lost_tail(self, partition: Partition, broker: int, offset: int) -> None:
        """A broker lost what it had not flushed."""
        self.ledger.real_loss[partition.topic.name, partition.index] = f"broker {broker} lost its tail"
        log = partition.logs[broker]
        if self.recording:
            name = f"{partition.topic.name}-{partition.index}"
            self.tell(f"broker {broker}", f"loses {offset} to {log.end_offset} of {name}")
        log.truncate(offset)

    # -- the owner of the group's partition

    def hand_over(self, commit: bool, then: Callable[[], None] | None = None) -> None:
        """A rebalance: the partition goes from its owner to the next consumer."""
        owner = self.owner
        following = self.consumers[(self.consumers.index(owner) + 1) % len(self.consumers) if owner else 0]

        def start() -> None:
            if self.owner is None:
                self.owner = following
                self.tell(following.name, "is given the partition")
                following.start()
            if then is not None:
                then()

        self.owner = None
        if owner is None:
            start()
            return
        self.tell(owner.name, "gives the partition up" if commit else "dies")
        owner.stop(commit, start)


def settings(plan: Plan) -> dict[str, str]:
    """Of its brokers."""
    return {**CONFIG, "replica.fetch.max.bytes": str(plan.replica_fetch_bytes)}


def _cluster(plan: Plan, random: stdlib_random.Random) -> Cluster:
    policies = _policies(plan.kafka, tuple(plan.policies.items()))
    environment = Environment(
        policies.release, lambda _: random, config=settings(plan), policies=policies, now_ms=START_MS
    )
    return Cluster(environment)


@functools.lru_cache
def _policies(kafka: str, chosen: tuple[tuple[str, str], ...]) -> Policies:
    """Nothing in a history changes them."""
    return Policies(parse(kafka), dict(chosen))


def topic_name(index: int) -> str:
    return TOPIC if index == 0 else f"{TOPIC}{index + 1}"
