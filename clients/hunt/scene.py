"""The cluster of a run: what happens to it, how all is made well again, what is there in the end."""

import contextlib
from typing import Final, Literal

import trio

from mockbroker.cluster_options import ClusterOptions, unchecked
from mockbroker.control.errors import RefusedError
from mockbroker.dumps.offsets_topic import OFFSETS
from mockbroker.errors import ConflictError, MockBrokerError
from mockbroker.protocol.offsets_log import CommitKey, read_commit, read_key
from mockbroker.security import Security
from mockbroker.server.listening import PortInUseError
from mockbroker.server.serving import ServedCluster

from .admission import admit, deed
from .events import create, happen, lose
from .journal import Happened, Partition
from .placing import Waits, add_fault
from .plan import Plan, Step, rack
from .stage import InLog, Outcome

_OFTEN_S: Final = 0.05
_NEAREST: Final = "org.apache.kafka.common.replica.RackAwareReplicaSelector"


def options(plan: Plan) -> ClusterOptions:
    """Of the cluster of a plan."""
    security = Security.of(plan.security or None)
    near = {"replica.selector.class": _NEAREST} if plan.racks else {}
    return {
        "kafka": unchecked(plan.kafka),
        "fixed": plan.fixed,
        "policies": unchecked(plan.policies),
        "brokers": plan.brokers,
        "config": {"group.initial.rebalance.delay.ms": "0", **near, **plan.config},
        "racks": {each: rack(each) for each in range(1, plan.brokers + 1)} if plan.racks else None,
        "seed": plan.seed,
        "security": security,
        # From there clients get signed tokens.
        **({"control": 0} if security is not None and security.signed_tokens else {}),
    }


class Scene:
    """The cluster of a run, with the topics of its plan."""

    def __init__(self, cluster: ServedCluster, outcome: Outcome) -> None:
        self.cluster, self.outcome, self.plan = cluster, outcome, outcome.plan
        self.waits = Waits(self.plan)
        self._waiting = [step for step in self.plan.steps if step.on]
        for topic in self.plan.topics:
            create(cluster, topic)
        for group in {user.fields["group"] for user in self.plan.users if "shares" in user.fields}:
            cluster.configure_group(group, {"share.auto.offset.reset": "earliest"})

    async def events(self) -> None:
        """Does to the cluster what the plan says, but for the steps that wait for something."""
        for step in self.plan.steps:
            if not step.on:
                await self._do(step)

    async def placed(self) -> None:
        """Does these steps, each when what it waits for has come, until it is cancelled."""
        async with trio.open_nursery() as nursery:
            for step in list(self._waiting):
                nursery.start_soon(self._wait_and_do, step)
            await trio.sleep_forever()

    async def _wait_and_do(self, step: Step) -> None:
        await self.waits.until(step.on)
        self._waiting.remove(step)
        await self._do(step)

    async def _do(self, step: Step) -> None:
        if step.after_ms:
            await trio.sleep(step.after_ms / 1000)
        if step.do == "fault":
            why_not = ""
            try:
                add_fault(self.cluster, step, self.waits, self.outcome.journal)
            except MockBrokerError as error:
                why_not = str(error)
        else:
            why_not = await happen(self.cluster, self.outcome, step.do, step.fields)
        self._happened(str(step), why_not, deed(step))

    def repair(self) -> None:
        """Makes all well again, but for brokers that are lost: the others do without them."""
        for step in self._waiting:
            self._happened(str(step), "what it waits for never came")
        cluster = self.cluster
        cluster.faults.clear()
        admit(cluster, self.plan)
        lost = self.outcome.lost
        for broker in sorted({*range(1, self.plan.brokers + 1)} - lost.keys()):
            for repair in (cluster.rejoin, cluster.start_broker, lambda each: cluster.slow_metadata(each, 0)):
                with contextlib.suppress(ConflictError):
                    repair(broker)
        for step in self.plan.steps:
            if step.do == "pause-follower":
                with contextlib.suppress(ConflictError, KeyError):
                    cluster.resume_follower(**step.fields)
        for broker, how in lost.items():
            lose(cluster, broker, how)
        without = ", ".join(map(str, lost))
        self.outcome.repaired = self._happened(
            f"all is well{f', but for broker {without}' if lost else ''}"
        ).at

    def _happened(self, what: str, why_not: str = "", do: str = "") -> Happened:
        return self.outcome.journal.add(Happened(what=what, why_not=why_not, do=do))

    async def write(self, topic: str, partition: int, value: bytes, key: str, limit_s: float) -> None:
        """Writes a record as soon as the partition has a leader that knows it is one; to the leader alone
        while too few replicas are in sync. It is there twice if it was not replicated in time the first time.
        RefusedError, TimeoutError if that takes too long."""
        end = trio.current_time() + limit_s
        acks: Literal[-1, 1] = -1
        while True:
            try:
                await self.cluster.produce_async(topic, value, key=key, partition=partition, acks=acks)
                return
            except (MockBrokerError, TimeoutError) as error:
                if trio.current_time() > end:
                    raise
                if isinstance(error, RefusedError) and error.error == "NOT_ENOUGH_REPLICAS":
                    acks = 1
            await trio.sleep(_OFTEN_S)

    def added(self) -> list[Partition]:
        """The partitions that the plan does not begin with, but for topics that were created again."""
        planned = {topic.name: topic.partitions for topic in self.plan.topics}
        known = {
            name: each for name, each in self.cluster.topics().items() if name not in self.outcome.deleted
        }
        names = [name for name in sorted(known) if name in planned or name in self.outcome.appeared]
        return [(e, n) for e in names for n in range(planned.get(e, 0), len(known[e].partitions))]

    def take_stock(self, group: str) -> None:
        """Notes what the group has committed, and what is in the logs."""
        outcome, cluster = self.outcome, self.cluster
        with contextlib.suppress(MockBrokerError):
            outcome.ever_committed = self._ever_committed()
            outcome.committed = {at: each.offset for at, each in cluster.committed(group).items()}
        topics = cluster.topics()
        outcome.partitions = {topic: len(each.partitions) for topic, each in topics.items()}
        outcome.configs = {topic: each.configs for topic, each in topics.items()}
        for name in (*(topic.name for topic in self.plan.topics), *sorted(outcome.appeared)):
            for partition in cluster.topic(name).partitions:
                at = name, partition.partition
                outcome.log_starts[at], outcome.logs[at] = partition.log_start_offset, []
            for each in cluster.records(name):
                found = InLog(
                    each.offset,
                    each.value,
                    each.transaction in (None, "committed"),
                    each.key,
                    each.headers,
                    each.timestamp_ms,
                )
                outcome.logs[name, each.partition].append(found)
        # A port that was taken while its broker was down: that broker was away for longer.
        failures = [e for e in cluster.failures if not isinstance(e.__cause__, PortInUseError)]
        cluster.failures[:] = failures

    def _ever_committed(self) -> dict[tuple[str, Partition], set[int]]:
        """What groups committed, as far as it can be read. NotThereError if nobody has asked for a
        coordinator yet."""
        ever: dict[tuple[str, Partition], set[int]] = {}
        for each in self.cluster.records(OFFSETS):
            if each.value is None or each.transaction not in (None, "committed"):
                continue
            # A story may have records that nobody can read.
            with contextlib.suppress(ValueError):
                key = read_key(each.key or b"")
                if isinstance(key, CommitKey):
                    at = (key.group, (key.topic, key.partition))
                    ever.setdefault(at, set()).add(read_commit(each.value).offset)
        return ever
