"""A run as applications see it, and its outcome."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import trio

from mockbroker.contents.values import Record
from mockbroker.control.clients import settings
from mockbroker.server.serving import ServedCluster

from ..drivers import Driver, DriverFailedError, OverdueError
from .journal import Headers, Journal, Partition, mark
from .plan import USER, Loss, Plan

PROBE: Final = b"probe:"
"""What records begin with that are written when all is well again: each group has to read them."""


def probe(partition: Partition) -> bytes:
    """The value of the record that is written to a partition when all is well again."""
    return PROBE + f"{partition[0]}-{partition[1]}".encode()


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
class Patience:
    """How long a client may take: several of its session timeouts, and more than `delivery.timeout.ms`."""

    settle_s: float = 25.0
    """To read on once all is well again."""
    told_s: float = 30.0
    """To say what became of a record."""
    call_ms: int = 10_000
    """The timeout of calls that have one."""
    grace_s: float = 10.0
    """How much longer than its own timeout a call may take."""

    @property
    def enough_ms(self) -> int:
        """A call that took so long may have come to its end, by its own timeout or by one of `TIMERS`."""
        return round(0.8 * min(self.call_ms, TIMERS["max.block.ms"]))


PATIENCE: Final = Patience()


@dataclass(frozen=True)
class InLog:
    """A record in the log in the end. `committed` unless its transaction was aborted, or is still open."""

    offset: int
    value: bytes | None
    committed: bool
    key: bytes | None = None
    headers: Headers = ()
    timestamp_ms: int = -1

    @property
    def mark(self) -> bytes:
        """What no other record has."""
        return mark(self.key, self.value)


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
    """What the group has committed in the end: `g`, or that of a whole application."""
    ever_committed: dict[tuple[str, Partition], set[int]] = field(default_factory=dict)
    """What each group has committed at any time."""
    unsettled: dict[str, list[str]] = field(default_factory=dict)
    """What share groups have neither processed nor archived long after all was well again, in words."""
    getting_on: set[str] = field(default_factory=set)
    """Share groups that were still at work when the time was over."""
    partitions: dict[str, int] = field(default_factory=dict)
    """How many each topic has in the end."""
    configs: dict[str, Mapping[str, str]] = field(default_factory=dict)
    """What each topic has set in the end."""
    deleted: set[str] = field(default_factory=set)
    """Topics that were deleted and created again."""
    lost: dict[int, Loss] = field(default_factory=dict)
    """Brokers that stay away to the end, and how they went."""
    appeared: set[str] = field(default_factory=set)
    """Topics that were created besides those of the plan."""
    far: dict[str, list[Partition]] = field(default_factory=dict)
    """Who did not ask the broker in its rack long after all was well, and for what."""
    asked: dict[str, set[int]] = field(default_factory=dict)
    """Since all was well, which brokers the client of each user asked for records: in plans with racks."""
    decided: set[str] = field(default_factory=set)
    """The behaviours that brokers were asked for, if a script was played."""
    was_in: dict[str, list[Sequence[Record]]] = field(default_factory=dict)
    """What was in topics when they were deleted."""
    broken: OverdueError | DriverFailedError | None = None
    broken_user: str = ""
    patience: Patience = PATIENCE
    client: str = ""
    """Its name and release, as its driver says."""
    busy: str = ""
    """When a client kept a processor busy though its application asked for nothing: in words."""
    late_s: float = 0.0
    """How late the machine was (`lateness`), at most, within ten seconds."""
    again: bool = False
    """Whether it was played again, and something had come too late before."""


class Stage:
    """A run, as applications see it."""

    def __init__(
        self, plan: Plan, driver: Driver, id_: str, cluster: ServedCluster, patience: Patience
    ) -> None:
        self.plan, self.driver, self.id, self.cluster = plan, driver, id_, cluster
        self.journal = Journal()
        began = trio.current_time()
        self.journal.clock = lambda: round((trio.current_time() - began) * 1000)
        # Drivers take TLS and logins in librdkafka's words.
        user = USER if plan.security.get("signed_tokens") else None
        self.servers = {**cluster.do(settings, "confluent-kafka", user), **TIMERS}
        if not plan.security:
            del self.servers["security.protocol"]
        self.patience = patience
        self.outcome = Outcome(plan, self.journal, patience=patience)
        self._numbers = self._transactions = 0
        self._changed = trio.Event()
        self.probes: dict[str, set[bytes]] = {}
        """What was written when all was well again, by topic."""
        self.added: dict[str, set[bytes]] = {}
        """The same of partitions and topics that the plan does not begin with."""
        self._seen: dict[str, set[bytes]] = {}
        self.at_work: set[str] = set()
        """Who may still write, once all is well again."""

    def servers_of(self, brokers: Sequence[int]) -> str:
        """`bootstrap.servers` of a client that knows only these brokers."""
        every = self.cluster.bootstrap_servers.split(",")
        return ",".join(every[each - 1] for each in brokers)

    def user_of(self, handle: str) -> str:
        """The user that has opened a handle."""
        return handle.removeprefix(f"{self.id}-").rpartition("-")[0]

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

    def was_read(self, group: str, partition: Partition, value: bytes | None) -> None:
        """Notes a probe. A consumer may go on behind the probe in a topic that was created again: then any
        record will do."""
        if partition[0] in self.outcome.deleted and self.outcome.repaired >= 0:
            value = probe(partition)
        if value is not None and value.startswith(PROBE):
            self._seen.setdefault(group, set()).add(value)

    def read_all(self, group: str, topics: Sequence[str], found: Collection[str] = ()) -> bool:
        """Whether a group has read every record that was written when all was well again; of those topics
        that it has `found`, also of what was added."""
        wanted = set().union(*(self.probes.get(each, ()) for each in topics))
        wanted |= set().union(*(self.added.get(each, ()) for each in found))
        return wanted <= self._seen.get(group, set())

    def time_of(self, partition: Partition, offset: int) -> int | None:
        """The timestamp of the record at an offset, or of the next one there is; None if there is none."""
        records = self.cluster.records(partition[0])
        after = (e.timestamp_ms for e in records if e.partition == partition[1] and e.offset >= offset)
        return next(after, None)

    def values_at(self, topic: str, partition: int, offset: int) -> list[bytes]:
        """The value of the record at an offset, or of the next one there is; in the topic of now, and in
        those of its name that were deleted."""
        found = []
        for records in (self.cluster.records(topic), *self.outcome.was_in.get(topic, ())):
            after = (e.value or b"" for e in records if e.partition == partition and e.offset >= offset)
            found += [value for value in (next(after, None),) if value is not None]
        return found
