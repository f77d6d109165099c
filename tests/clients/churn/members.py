"""A member of the group: reads, commits what it has read, and leaves when it is told to.

Sometimes it leaves a commit to its next turn, so that there is something to read again.
"""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

import trio

from mockbroker.clients.drivers import Answer
from mockbroker.clients.drivers.in_thread import Client, RefusedError, taken
from mockbroker.clients.drivers.lines import refusal

from .journal import Assigned, Committed, Committing, Journal, Read

CLIENTS = ("aiokafka", "confluent-kafka", "kafka-python")
BATCH = 20
TURN_MS = 200
LIMIT_MS = 60_000
LATER = 0.2
"""How likely a commit is left to the next turn."""
CONFIG = {
    "partition.assignment.strategy": "range",
    "auto.offset.reset": "earliest",
    "enable.auto.commit": False,
    "max.poll.records": BATCH,
    "heartbeat.interval.ms": 200,
    "session.timeout.ms": 3_000,
}
MOVING = {
    "_NO_OFFSET",
    "_WAIT_COORD",
    "COORDINATOR_LOAD_IN_PROGRESS",
    "COORDINATOR_NOT_AVAILABLE",
    "ILLEGAL_GENERATION",
    "NOT_COORDINATOR",
    "UNKNOWN_MEMBER_ID",
    "REBALANCE_IN_PROGRESS",
}
UNREACHABLE = {"KafkaConnectionError", "NodeNotReadyError"}
"""Of kafka-python, while the broker that it asks is down; the call succeeds later."""
ALLOWED = {
    ("aiokafka", "commit"): {"CommitFailedError", "IllegalStateError"},
    ("confluent-kafka", "commit"): MOVING,
    ("confluent-kafka", "poll"): MOVING,
    ("kafka-python", "commit"): {"CommitFailedError", "RebalanceInProgressError"},
    ("kafka-python", "partitions"): UNREACHABLE,
    ("kafka-python", "poll"): UNREACHABLE,
}
"""Names of errors that a call of a client may raise."""


@dataclass(frozen=True)
class Group:
    """What all members have in common."""

    bootstrap: str
    topic: str
    name: str
    journal: Journal


class Member:
    """`vanishes`: its LeaveGroup will not arrive, so it does not commit before it goes either.

    A rebalance waits for the commit that it comes into: otherwise the client could repeat that commit in the
    next generation, when another member has the partition. It can't wait for aiokafka's poll, which waits for
    the rebalance, however short its timeout is: what that poll returns is not read.
    """

    def __init__(
        self, driven: Client, client: str, group: Group, name: str, seed: int, *, vanishes: bool
    ) -> None:
        self.client, self.group, self.vanishes = client, group, vanishes
        self.name = f"{'vanishes' if vanishes else 'leaves'}-{name}-{client}"
        self._driven, self._random = driven, Random(seed)
        self._leaves = trio.Event()
        self._turn = trio.Lock()
        self._next: dict[int, int] = {}
        self._stopped = False
        """Whether a rebalance waits for it to give its partitions up."""
        self._rebalances = 0

    def start(self) -> Future[None]:
        """Joins; the future is done once it has left."""
        left: Future[None] = Future()

        async def run() -> None:
            await self._guarded(self._run)
            left.set_result(None)

        self._driven.begin(run)
        return left

    async def _guarded(self, task: Callable[[], Awaitable[None]]) -> None:
        try:
            await task()
        except Exception as error:
            self.group.journal.failed(error)

    def leave(self) -> None:
        self._driven.later(self._leaves.set)

    async def _run(self) -> None:
        self._driven.driver.listen(self.name, self._heard)
        config = {
            "bootstrap.servers": self.group.bootstrap,
            "client.id": self.name,
            "group.id": self.group.name,
            **CONFIG,
        }
        taken(await self._call("open", LIMIT_MS, kind="consumer", config=config))
        # As in `driven.Member`: kafka-python joins once it knows its topic.
        while self.client == "kafka-python" and not await self._knows_topic():
            self.group.journal.raised(self.client, "knows no topic yet")
        stops_at = ["assigned", "revoked"]
        taken(await self._call("subscribe", topics=[self.group.topic], stops_at=stops_at))
        while not self._leaves.is_set():
            rebalances = self._rebalances
            answer = await self._driven.driver.call("poll", self.name, TURN_MS, self._read)
            self._check("poll", answer)
            async with self._turn:
                if rebalances == self._rebalances and self._random.random() >= LATER:
                    await self._commit()
        taken(await self._call("close", LIMIT_MS))

    async def _call(self, verb: str, timeout_ms: int | None = None, **fields: Any) -> Answer:
        return await self._driven.driver.call(verb, self.name, timeout_ms, **fields)

    async def _knows_topic(self) -> bool:
        answer = await self._call("partitions", LIMIT_MS, topic=self.group.topic)
        self._check("partitions", answer)
        return answer.ok is not None and answer.ok["partitions"] > 0

    def _read(self, answer: Answer) -> None:
        if self._stopped or answer.ok is None:
            return
        for each in answer.ok["records"]:
            partition, offset = each["partition"], each["offset"]
            number = int(base64.b64decode(each["value"]))
            self.group.journal.note(Read(self.name, partition, offset, number))
            self._next[partition] = offset + 1

    def _heard(self, event: str, line: Mapping[str, Any]) -> None:
        if event == "error":
            return
        if event == "lost":
            self._next = {}
            return
        self._stopped = event == "revoked"
        then = self._go_on
        if event == "assigned":
            partitions = frozenset(partition for _, partition in line["partitions"])
            self.group.journal.note(Assigned(self.name, partitions))
            # Of partitions that stay, kafka-python keeps its position, and reads nothing again.
            kept = partitions if self.client == "kafka-python" else ()
            self._next = {partition: at for partition, at in self._next.items() if partition in kept}
        elif self.client != "kafka-python":  # whose thread is the one that would have to send a commit
            then = self._give_up
        self._driven.begin(partial(self._guarded, then))

    async def _give_up(self) -> None:
        async with self._turn:
            if not (self.vanishes and self._leaves.is_set()):
                await self._commit()
            self._next = {}
        await self._go_on()

    async def _go_on(self) -> None:
        def goes_on(_: Answer) -> None:
            self._stopped = False
            self._rebalances += 1

        await self._driven.driver.call("go-on", self.name, None, goes_on)

    async def _commit(self) -> None:
        offsets = dict(self._next)
        if not offsets:
            return
        self.group.journal.note(Committing(self.name, offsets))
        rows = [[self.group.topic, partition, offset] for partition, offset in offsets.items()]
        answer = await self._call("commit", LIMIT_MS, offsets=rows)
        self._check("commit", answer)
        if answer.error is None:
            self.group.journal.note(Committed(self.name, offsets))
            self._next = {p: offset for p, offset in self._next.items() if offset != offsets.get(p)}

    def _check(self, verb: str, answer: Answer) -> None:
        """RefusedError for an error that its client must not raise."""
        errors = map(refusal, (answer.ok or {}).get("errors", ()))
        for error in [answer.error] if answer.error else errors:
            if error.name not in ALLOWED.get((self.client, verb), ()):
                raise RefusedError(error)
            self.group.journal.raised(self.client, error.name)
