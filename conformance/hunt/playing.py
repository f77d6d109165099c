"""Plays one plan with one driver: a cluster, applications, what happens to them, what is there in the end."""

import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import trio

from mockbroker.cluster_options import ClusterOptions, unchecked
from mockbroker.errors import ConflictError, MockBrokerError
from mockbroker.server.serving import ServedCluster, serve

from ..drivers import Driver, DriverFailedError, OverdueError
from .events import happen
from .journal import Happened, Journal, Partition
from .members import Consuming
from .plan import Plan
from .transactions import Processing, Transacting
from .users import Made, Producer

KINDS: Final[Mapping[str, Made]] = {
    each.kind: each for each in (Producer, Transacting, Processing, Consuming)
}
PROBE: Final = b"probe:"
"""What records begin with that are written when all is well again: each group has to read them."""
SETTLE_S: Final = 25.0
"""How long clients may take to read on once all is well again: several session timeouts."""
TIMERS: Final = {
    "retry.backoff.ms": 50,
    "request.timeout.ms": 3_000,
    "delivery.timeout.ms": 8_000,
    "max.block.ms": 8_000,
    "session.timeout.ms": 6_000,
    "heartbeat.interval.ms": 300,
    "fetch.max.wait.ms": 100,
    "linger.ms": 5,
}
"""They make a client act soon, and leave out nothing that it does."""


@dataclass(frozen=True)
class InLog:
    """A record in the log in the end. `committed` unless its transaction was aborted, or is still open."""

    offset: int
    value: bytes | None
    committed: bool


@dataclass
class Outcome:
    """What came of a plan; `broken` is what ended it early: a call, or the driver itself."""

    plan: Plan
    journal: Journal
    repaired: int = -1
    """The number of the last entry before all was well again."""
    logs: dict[Partition, list[InLog]] = field(default_factory=dict)
    log_starts: dict[Partition, int] = field(default_factory=dict)
    committed: dict[Partition, int] = field(default_factory=dict)
    """What the group `g` has committed in the end."""
    deleted: set[str] = field(default_factory=set)
    """Topics that were deleted and created again."""
    broken: OverdueError | DriverFailedError | None = None
    broken_user: str = ""


class Play:
    """A run, as applications see it."""

    def __init__(self, plan: Plan, driver: Driver, id_: str, cluster: ServedCluster) -> None:
        self.plan, self.driver, self.id, self.cluster = plan, driver, id_, cluster
        self.journal = Journal()
        began = trio.current_time()
        self.journal.clock = lambda: round((trio.current_time() - began) * 1000)
        self.servers = {"bootstrap.servers": cluster.bootstrap_servers, **TIMERS}
        self.settle_s = SETTLE_S
        self.outcome = Outcome(plan, self.journal)
        self._numbers = self._transactions = 0
        self._changed = trio.Event()
        self._probes: dict[str, set[bytes]] = {}
        self._seen: dict[str, set[bytes]] = {}

    def number(self) -> int:
        self._numbers += 1
        return self._numbers

    def transaction(self) -> int:
        self._transactions += 1
        return self._transactions

    def changed(self) -> None:
        """Wakes those who wait in `until`."""
        self._changed.set()
        self._changed = trio.Event()

    async def until(self, condition: Callable[[], bool], limit_s: float) -> bool:
        """Whether it came true within the limit."""
        with trio.move_on_after(limit_s):
            while not condition():
                if self.driver.failed:
                    return False
                with trio.move_on_after(1.0):
                    await self._changed.wait()
        return condition()

    async def while_not(
        self, condition: Callable[[], bool], limit_s: float, again: Callable[[], Awaitable[None]]
    ) -> None:
        """Does something again and again, until a condition is true or the time is over."""
        end = trio.current_time() + limit_s
        while not condition() and trio.current_time() < end:
            began = trio.current_time()
            await again()
            if trio.current_time() - began < 0.01:
                await trio.sleep(0.05)  # it failed at once

    def was_read(self, group: str, value: bytes | None) -> None:
        if value is not None and value.startswith(PROBE):
            self._seen.setdefault(group, set()).add(value)

    def read_all(self, group: str, topics: Sequence[str]) -> bool:
        """Whether a group has read every record that was written when all was well again."""
        wanted = set().union(*(self._probes.get(each, ()) for each in topics))
        return wanted <= self._seen.get(group, set())

    def value_at(self, topic: str, partition: int, offset: int) -> bytes:
        """The value of the record at an offset, or of the next one there is."""
        records = self.cluster.records(topic, partition=partition)
        return next((each.value or b"" for each in records if each.offset >= offset), b"")

    # The run.

    async def to_the_end(self) -> None:
        users = [KINDS[each.kind](self, each) for each in self.plan.users]
        await self._at_once(
            [
                *((each.name, user.run) for each, user in zip(self.plan.users, users, strict=True)),
                ("", self._events),
            ]
        )
        if self.outcome.broken is None:
            self._repair()
            await self._probe()
            await self._at_once(
                [(each.name, user.afterwards) for each, user in zip(self.plan.users, users, strict=True)]
            )
        if self.outcome.broken is None:
            await self._at_once(
                [(each.name, user.leave) for each, user in zip(self.plan.users, users, strict=True)]
            )
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
        for step in self.plan.steps:
            await trio.sleep(step.after_ms / 1000)
            why_not = await happen(self, step.do, step.fields)
            self.journal.add(Happened(user="cluster", handle="", what=str(step), why_not=why_not))

    def _repair(self) -> None:
        self.cluster.faults.clear()
        cluster = self.cluster
        for broker in range(1, self.plan.brokers + 1):
            for repair in (cluster.rejoin, cluster.start_broker, lambda each: cluster.slow_metadata(each, 0)):
                with contextlib.suppress(ConflictError):
                    repair(broker)
        self.outcome.repaired = self.journal.add(Happened(user="cluster", handle="", what="all is well")).at

    async def _probe(self) -> None:
        for topic in self.plan.topics:
            for partition in range(topic.partitions):
                value = PROBE + f"{topic.name}-{partition}".encode()
                await self._write(topic.name, partition, value)
                self._probes.setdefault(topic.name, set()).add(value)

    async def _write(self, topic: str, partition: int, value: bytes) -> None:
        """Writes a record as soon as the partition has a leader that knows it is one. RefusedError if it has
        none in time."""
        end = trio.current_time() + SETTLE_S
        while True:
            try:
                await self.cluster.produce_async(topic, value, key="probe", partition=partition)
                return
            except (MockBrokerError, TimeoutError):
                if trio.current_time() > end:
                    raise
            await trio.sleep(0.05)

    def _take_stock(self) -> None:
        with contextlib.suppress(MockBrokerError):
            self.outcome.committed = {at: each.offset for at, each in self.cluster.committed("g").items()}
        for topic in self.plan.topics:
            described = self.cluster.topic(topic.name)
            for partition in described.partitions:
                self.outcome.log_starts[topic.name, partition.partition] = partition.log_start_offset
                self.outcome.logs[topic.name, partition.partition] = []
            for each in self.cluster.records(topic.name):
                found = InLog(each.offset, each.value, each.transaction in (None, "committed"))
                self.outcome.logs[topic.name, each.partition].append(found)


async def play(plan: Plan, driver: Driver, id_: str) -> Outcome:
    """Takes a few seconds. `id_` has to be another one for each run with this driver."""
    options: ClusterOptions = {
        "kafka": unchecked(plan.kafka),
        "fixed": True,
        "brokers": plan.brokers,
        "config": {"group.initial.rebalance.delay.ms": "0", **plan.config},
        "seed": plan.seed,
    }
    async with serve(**options) as cluster:
        for topic in plan.topics:
            cluster.create_topic(topic.name, partitions=topic.partitions, config=dict(topic.config))
        run = Play(plan, driver, id_, cluster)
        await run.to_the_end()
        return run.outcome
