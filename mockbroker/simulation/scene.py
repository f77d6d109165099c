"""What everything in a history shares: the cluster, the network, the time, and what is known about
records."""

import functools
from collections.abc import Container, Mapping
from typing import Final

from ..cluster.cluster import Cluster
from ..cluster.topic import TopicPartition
from ..configs import Configs
from ..controller.features import UPGRADE, Update, finalize
from ..coordinators.share.coordinating import SHARE_FEATURE
from ..environment import Environment, Streams
from ..policies import Policies
from ..protocol.releases import parse
from ..seeded import streams
from . import batches, compacted, group_setting, share_setting
from .batches import key_of
from .ledger import Ledger, Place, Violation
from .network import Network
from .plan import WEEK_MS, Plan
from .timeline import VIOLATION, Timeline

TOPIC: Final = "t"
GROUP: Final = "g"
MEMBERS: Final = "k"
"""The group whose coordinator assigns partitions."""
SHARERS: Final = "s"
"""The share group."""
START_MS: Final = 1_700_000_000_000
_LOOK_MS: Final = 20
"""How often a recorded timeline looks at the cluster."""
CONFIG: Final[Mapping[str, int]] = {
    "broker.session.timeout.ms": 600,
    "group.initial.rebalance.delay.ms": 0,
    "log.initial.task.delay.ms": 0,
    "log.retention.check.interval.ms": 200,
    "offsets.retention.check.interval.ms": 300,
    "offsets.topic.num.partitions": 1,
    "offsets.topic.replication.factor": 3,
    "replica.lag.time.max.ms": 400,
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": 200,
    "transaction.state.log.num.partitions": 1,
    "zookeeper.session.timeout.ms": 600,
}


class Scene:
    """`tell` writes a timeline if `recording`; nothing else depends on that."""

    def __init__(self, plan: Plan, recording: bool = False, cluster: Cluster | None = None) -> None:
        """`cluster` is an existing cluster with the configuration of `settings`, which has no topics yet."""
        self.plan = plan
        self.recording = recording
        self.stream = streams(plan.seed)
        self.cluster = cluster or _cluster(plan, self.stream)
        self.start_ms = self.cluster.now_ms
        self.network = Network(self.cluster, self.stream("network"), plan.delay_ms, timeout_ms=1_000)
        self.bootstrap = tuple(self.cluster.brokers)
        self.ledger = Ledger()
        self.violations: list[Violation] = []
        overrides = {
            "retention.ms": "-1",
            "segment.ms": str(WEEK_MS),
            "min.insync.replicas": str(plan.min_insync),
            "unclean.leader.election.enable": str(plan.unclean).lower(),
            "cleanup.policy": plan.cleanup,
            "delete.retention.ms": str(plan.delete_retention_ms),
        }
        for index in range(plan.topics):
            self.cluster.create_topic(topic_name(index), [spread_of(index)], overrides)
        for name in group_setting.TOPICS if plan.group.members else ():
            spread = [spread_of(index) for index in range(plan.group.partitions)]
            self.cluster.create_topic(name, spread, overrides)
        if plan.shares.members:
            self._begin_sharing(overrides)
        self.timeline = Timeline(self.cluster, self.start_ms) if recording else None

    def _begin_sharing(self, overrides: Mapping[str, str]) -> None:
        """The topic of the share group; and 4.1 has share groups only if they are turned on."""
        state = self.cluster.controller
        if not state.image.features.get(SHARE_FEATURE):
            finalize(state, [Update(SHARE_FEATURE, 1, UPGRADE)])
        groups = self.cluster.configs.groups
        if SHARERS not in groups:
            groups[SHARERS] = {"share.auto.offset.reset": self.plan.shares.reset}
        spread = [spread_of(index) for index in range(self.plan.shares.partitions)]
        self.cluster.create_topic(share_setting.TOPIC, spread, overrides)

    @property
    def places(self) -> list[Place]:
        """Every partition that clients use."""
        return [(topic_name(index), 0) for index in range(self.plan.topics)] + self.assigned + self.shared

    @property
    def assigned(self) -> list[Place]:
        """The partitions that a coordinator assigns."""
        group = self.plan.group
        topics = group_setting.TOPICS if group.members else ()
        return [(name, index) for name in topics for index in range(group.partitions)]

    @property
    def shared(self) -> list[Place]:
        """The partitions of the share group, also those that were added later."""
        if not self.plan.shares.members:
            return []
        topic = self.cluster.topics[share_setting.TOPIC]
        return [(topic.name, each.index) for each in topic.partitions]

    # -- time and words

    @property
    def since_start_ms(self) -> int:
        return self.cluster.now_ms - self.start_ms

    def run_until(self, at_ms: int) -> None:
        """Runs everything that is due until then, in ms since the start."""
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

    def partition(self, place: Place = (TOPIC, 0)) -> TopicPartition:
        return self.cluster.topics[place[0]].partitions[place[1]]

    # -- records

    def held(self) -> dict[Place, dict[int, list[int]]]:
        """The offsets at which the leaders' logs have each number."""
        return {place: self.numbers_in(self.partition(place)) for place in self.places}

    def lost_records(self, held: Mapping[Place, Container[int]], writer: str | None = None) -> list[int]:
        """Numbers of acknowledged records that the leader's log lacks, although they were not deleted there.
        `held` are those that the leaders' logs have."""
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

    def numbers_in(self, partition: TopicPartition) -> dict[int, list[int]]:
        """The offsets at which the leader's log has each number."""
        offsets: dict[int, list[int]] = {}
        for batch in partition.log:
            found = batches.read(batch)
            if found is not None:
                for offset, number in zip(found.offsets, found.numbers, strict=True):
                    offsets.setdefault(number, []).append(offset)
        return offsets

    def deleted(self, partition: TopicPartition, upto: int) -> None:
        """Records below an offset were deleted on purpose."""
        place = partition.topic.name, partition.index
        self.ledger.deleted_upto[place] = max(upto, self.ledger.deleted_upto.get(place, 0))
        deleted = self.ledger.deleted.setdefault(place, {})
        for number, offsets in self.numbers_in(partition).items():
            if offsets[0] < upto:
                deleted.setdefault(number, offsets[0])

    def lost_tail(self, partition: TopicPartition, broker: int, offset: int) -> None:
        """A broker lost records that were not flushed."""
        self.ledger.real_loss[partition.topic.name, partition.index] = f"broker {broker} lost its tail"
        log = partition.logs[broker]
        if self.recording:
            name = f"{partition.topic.name}-{partition.index}"
            self.tell(f"broker {broker}", f"loses {offset} to {log.end_offset} of {name}")
        log.truncate(offset)


def settings(plan: Plan) -> dict[str, str]:
    """The configuration of the brokers."""
    return {
        **{name: str(value) for name, value in CONFIG.items()},
        "log.roll.ms": str(plan.log_roll_ms),
        "offsets.retention.minutes": str(plan.offsets_retention_minutes),
        "replica.fetch.max.bytes": str(plan.replica_fetch_bytes),
        **(group_setting.CONFIG if plan.group.members else {}),
        **(plan.shares.config if plan.shares.members else {}),
    }


def _cluster(plan: Plan, streams: Streams) -> Cluster:
    policies = _policies(plan.kafka, tuple(plan.policies.items()))
    reset = plan.shares.reset if plan.shares.members else ""
    configs = _configs(plan.kafka, tuple(settings(plan).items()), reset)
    environment = Environment(policies.release, streams, config=configs, policies=policies, now_ms=START_MS)
    return Cluster(environment)


@functools.lru_cache
def _configs(kafka: str, given: tuple[tuple[str, str], ...], reset: str) -> Configs:
    """Shared between histories, which never change them. `reset` is where the share group begins, if there is
    one."""
    configs = Configs(dict(given), parse(kafka))
    if reset:
        configs.groups[SHARERS] = {"share.auto.offset.reset": reset}
    return configs


@functools.lru_cache
def _policies(kafka: str, chosen: tuple[tuple[str, str], ...]) -> Policies:
    """Shared between histories, which never change them."""
    return Policies(parse(kafka), dict(chosen))


def spread_of(index: int) -> list[int]:
    """The replicas of a partition."""
    return [(index + each) % 3 + 1 for each in range(3)]


def topic_name(index: int) -> str:
    return TOPIC if index == 0 else f"{TOPIC}{index + 1}"
