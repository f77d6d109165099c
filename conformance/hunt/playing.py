"""Plays one plan with one driver: a cluster, applications, what happens to them, what is there in the end."""

import contextlib
import functools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, Literal

import trio

from mockbroker.cluster_options import ClusterOptions, unchecked
from mockbroker.control.errors import RefusedError
from mockbroker.errors import ConflictError, MockBrokerError
from mockbroker.server.listening import PortInUseError
from mockbroker.server.serving import ServedCluster, serve
from mockbroker.trace import Event
from mockbroker.trace.events import Decision

from ..drivers import Driver, DriverFailedError, OverdueError
from .events import happen
from .journal import Happened
from .members import Consuming
from .plan import Plan
from .stage import PATIENCE, InLog, Outcome, Patience, Stage, probe
from .transactions import Processing, Transacting
from .users import Made, Producer, User

KINDS: Final[Mapping[str, Made]] = {
    each.kind: each for each in (Producer, Transacting, Processing, Consuming)
}


Users = Mapping[str, User]
Script = Callable[[Stage, Users], Awaitable[None]]
"""What applications do and what happens to the cluster, in place of a plan's steps."""


class _Run:
    def __init__(self, stage: Stage) -> None:
        self._stage, self.outcome = stage, stage.outcome
        self._plan, self._cluster = stage.plan, stage.cluster

    async def to_the_end(self, script: Script | None) -> None:
        users = {each.name: KINDS[each.kind](self._stage, each) for each in self._plan.users}
        if script is None:
            await self._at_once([*((name, user.run) for name, user in users.items()), ("", self._events)])
        else:
            await self._at_once([("", functools.partial(script, self._stage, users))])
        if self.outcome.broken is None:
            self._repair()
            await self._probe()
            await self._at_once([(name, user.afterwards) for name, user in users.items()])
        if self.outcome.broken is None:
            await self._at_once([(name, user.leave) for name, user in users.items()])
        self._take_stock()

    async def _at_once(self, doing: Sequence[tuple[str, Callable[[], Awaitable[Any]]]]) -> None:
        """What breaks ends all of it."""

        async def do(name: str, function: Callable[[], Awaitable[Any]], scope: trio.CancelScope) -> None:
            try:
                await function()
            except (OverdueError, DriverFailedError) as error:
                if self.outcome.broken is None:
                    self.outcome.broken, self.outcome.broken_user = error, name
                scope.cancel()

        async with trio.open_nursery() as nursery:
            for name, function in doing:
                nursery.start_soon(do, name, function, nursery.cancel_scope)

    async def _events(self) -> None:
        for step in self._plan.steps:
            await trio.sleep(step.after_ms / 1000)
            why_not = await happen(self._stage, step.do, step.fields)
            self._stage.journal.add(Happened(user="cluster", handle="", what=str(step), why_not=why_not))

    def _repair(self) -> None:
        self._cluster.faults.clear()
        cluster = self._cluster
        for broker in range(1, self._plan.brokers + 1):
            for repair in (cluster.rejoin, cluster.start_broker, lambda each: cluster.slow_metadata(each, 0)):
                with contextlib.suppress(ConflictError):
                    repair(broker)
        self.outcome.repaired = self._stage.journal.add(
            Happened(user="cluster", handle="", what="all is well")
        ).at

    async def _probe(self) -> None:
        for topic in self._plan.topics:
            for partition in range(topic.partitions):
                value = probe((topic.name, partition))
                await self._write(topic.name, partition, value)
                self._stage.probes.setdefault(topic.name, set()).add(value)

    async def _write(self, topic: str, partition: int, value: bytes) -> None:
        """Writes a record as soon as the partition has a leader that knows it is one; to the leader alone
        while too few replicas are in sync. RefusedError if it has none in time."""
        end = trio.current_time() + self._stage.patience.settle_s
        acks: Literal[-1, 1] = -1
        while True:
            try:
                await self._cluster.produce_async(topic, value, key="probe", partition=partition, acks=acks)
                return
            except (MockBrokerError, TimeoutError) as error:
                if trio.current_time() > end:
                    raise
                if isinstance(error, RefusedError) and error.error == "NOT_ENOUGH_REPLICAS":
                    acks = 1
            await trio.sleep(0.05)

    def _take_stock(self) -> None:
        with contextlib.suppress(MockBrokerError):
            self.outcome.committed = {at: each.offset for at, each in self._cluster.committed("g").items()}
        for topic in self._plan.topics:
            described = self._cluster.topic(topic.name)
            for partition in described.partitions:
                self.outcome.log_starts[topic.name, partition.partition] = partition.log_start_offset
                self.outcome.logs[topic.name, partition.partition] = []
            for each in self._cluster.records(topic.name):
                found = InLog(each.offset, each.value, each.transaction in (None, "committed"))
                self.outcome.logs[topic.name, each.partition].append(found)


async def play(
    plan: Plan, driver: Driver, id_: str, patience: Patience = PATIENCE, script: Script | None = None
) -> Outcome:
    """Takes a few seconds. `id_` has to be another one for each run with this driver."""
    options: ClusterOptions = {
        "kafka": unchecked(plan.kafka),
        "fixed": plan.fixed,
        "policies": unchecked(plan.policies),
        "brokers": plan.brokers,
        "config": {"group.initial.rebalance.delay.ms": "0", **plan.config},
        "seed": plan.seed,
    }
    if script is not None:
        options["trace"] = "requests"
    driver.grace_s = patience.grace_s
    async with serve(**options) as cluster:
        for topic in plan.topics:
            cluster.create_topic(topic.name, partitions=topic.partitions, config=dict(topic.config))
        run = _Run(Stage(plan, driver, id_, cluster, patience))
        if script is not None:
            _note_decisions(cluster, run.outcome)
        await run.to_the_end(script)
        # A port that was taken while its broker was down: that broker was away for longer.
        failures = [e for e in cluster.failures if not isinstance(e.__cause__, PortInUseError)]
        cluster.failures[:] = failures
        return run.outcome


def _note_decisions(cluster: ServedCluster, outcome: Outcome) -> None:
    def note(event: Event) -> None:
        if isinstance(event, Decision):
            outcome.decided.add(event.name)

    cluster.trace.listen(note)
