"""Lets members join, leave and vanish, moves the coordinator of their group, and stops its broker."""

from __future__ import annotations

import concurrent.futures
import itertools
import threading
import time
from collections import Counter
from collections.abc import Generator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from confluent_kafka import KafkaError, Message, Producer

from mockbroker import ClientRequest, ConflictError, MockCluster, ReleaseName
from mockbroker.clients.drivers import command_for
from mockbroker.clients.drivers.in_thread import Client, open_client
from mockbroker.protocol.errors import ErrorCode
from mockbroker.rig.waiting import wait_for

from .journal import Accepted, Asked, Journal, Read, Shared
from .judge import Judge
from .members import CLIENTS, Group, Member

if TYPE_CHECKING:
    from collections.abc import Sequence

TOPIC, GROUP = "orders", "billing"
LIMIT_S = 120.0
AHEAD = 400
"""So many acknowledged records may wait to be read before the producer writes more."""
PART = 50
CALM = 0.4
"""How likely the driver waits until somebody reads before it goes on."""
CONFIG = {
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "1000",
    "default.replication.factor": "3",
    "offsets.topic.replication.factor": "3",
}


@dataclass(frozen=True)
class Plan:
    """How many members there are most of the time, and how many partitions they share. Something happens
    every `pause_s` on average, for at least `seconds` and at least `steps` times."""

    kafka: ReleaseName
    seed: int
    members: int = 6
    partitions: int = 12
    seconds: float = 0.0
    steps: int = 8
    pause_s: float = 0.2


@dataclass(frozen=True)
class Outcome:
    """`did` counts what the driver did, `errors` what clients raised that they may raise; `again`, `refused`
    and `kept` are the judge's."""

    violations: Sequence[str]
    written: int
    again: int
    refused: int
    kept: int
    generations: int
    did: Counter[str]
    errors: Counter[str]


def run(plan: Plan) -> Outcome:
    """TimeoutError if records stay unread or uncommitted; ExceptionGroup for what clients must not raise."""
    journal = Journal()
    with (
        MockCluster(kafka=plan.kafka, brokers=3, topics={TOPIC: plan.partitions}, config=CONFIG) as cluster,
        ExitStack() as opened,
    ):
        driven = [opened.enter_context(open_client(command_for(client))) for client in CLIENTS]
        _listen(cluster, journal)
        churn = _Churn(plan, cluster, driven, journal)
        with churn.members(), _producing(cluster.bootstrap_servers, plan, journal):
            churn.go_on()
        judge = Judge(journal)
        violations = judge.violations()
        shared = {each.generation for each in journal.events if isinstance(each, Shared)}
        return Outcome(
            violations,
            len(journal.written),
            judge.again,
            judge.refused,
            judge.kept,
            len(shared),
            churn.did,
            journal.errors,
        )


class _Churn:
    def __init__(self, plan: Plan, cluster: MockCluster, driven: Sequence[Client], journal: Journal) -> None:
        self._plan, self._cluster, self._driven, self._journal = plan, cluster, driven, journal
        self._random = Random(plan.seed)
        self._group = Group(cluster.bootstrap_servers, TOPIC, GROUP, journal)
        self._numbers = itertools.count(1)
        self._live: dict[Member, Future[None]] = {}
        self._left: dict[str, Future[None]] = {}
        self._down: int | None = None
        self.did: Counter[str] = Counter()

    @contextmanager
    def members(self) -> Generator[None]:
        """They join, and all have read and committed everything at the end; then they leave."""
        self._cluster.faults.add("disconnect", api="LeaveGroup", client_id="vanishes-*", optional=True)
        try:
            for _ in range(self._plan.members):
                self._join()
            yield
            self._finish()
        finally:
            for member in [*self._live]:
                self._leave(member)
            stuck = concurrent.futures.wait(self._left.values(), LIMIT_S).not_done
            names = [name for name, left in self._left.items() if left in stuck]
            if names:
                raise TimeoutError(f"these do not leave: {names}")

    def go_on(self) -> None:
        steps = [self._come, self._go, self._move, self._move, self._restart]
        if not self._journal.wait(lambda: self._journal.has_reads, LIMIT_S):
            raise TimeoutError("nobody reads")
        end = time.monotonic() + self._plan.seconds
        done = 0
        while done < self._plan.steps or time.monotonic() < end:
            self._journal.wait(lambda: False, self._random.uniform(0, 2 * self._plan.pause_s))
            if self._random.random() < CALM:
                self._await_news()
            self._random.choice(steps)()
            done += 1

    def _await_news(self) -> None:
        """Until somebody reads: so the group is rebalanced from time to time."""
        before = len(self._journal.events)

        def reads() -> bool:
            return any(isinstance(each, Read) for each in self._journal.events[before:])

        if not self._journal.wait(reads, LIMIT_S):
            raise TimeoutError(f"nobody reads: {self._cluster.group(GROUP)}")

    def _come(self) -> None:
        for _ in range(self._random.randint(1, 3)):
            if len(self._live) < 1.2 * self._plan.members:
                self._join()

    def _go(self) -> None:
        for _ in range(self._random.randint(1, 3)):
            if len(self._live) > 0.8 * self._plan.members:
                self._leave(self._random.choice([*self._live]))

    def _join(self) -> None:
        number = next(self._numbers)
        # Assignors sort members by these names: so each client gets some of the partitions.
        name, seed = f"{self._random.randrange(10_000):04}-{number}", self._random.randrange(1 << 32)
        vanishes = self._random.random() < 0.15
        which = number % len(CLIENTS)
        given = self._driven[which], CLIENTS[which], self._group, name, seed
        member = Member(*given, vanishes=vanishes)
        self._live[member] = member.start()
        self.did[f"{member.client} joins"] += 1

    def _leave(self, member: Member) -> None:
        self._left[f"{member.client} {member.name}"] = self._live.pop(member)
        member.leave()
        self.did[f"{member.client} {'vanishes' if member.vanishes else 'leaves'}"] += 1

    def _move(self) -> None:
        try:
            self._cluster.move_coordinator(group=GROUP)
        except ConflictError:  # the other brokers are not in sync, or the group is new
            self.did["coordinator can't move"] += 1
        else:
            self.did["coordinator moves"] += 1

    def _restart(self) -> None:
        """Stops the broker of the coordinator, or starts the one that is down."""
        if self._down is not None:
            self._cluster.start_broker(self._down)
            self._down = None
        else:
            coordinator = self._cluster.group(GROUP).coordinator
            if coordinator is None:
                return
            self._cluster.stop_broker(coordinator)
            self._down = coordinator
            self.did["coordinator stops"] += 1

    def _finish(self) -> None:
        if self._down is not None:
            self._restart()
        if not self._journal.wait(lambda: not self._journal.unread, LIMIT_S):
            unread = sorted(self._journal.unread)[:20]
            raise TimeoutError(f"nobody reads {unread}: {self._cluster.group(GROUP)}")
        ends: Counter[int] = Counter()
        for partition, offset in self._journal.written:
            ends[partition] = max(ends[partition], offset + 1)
        wanted = {(TOPIC, partition): offset for partition, offset in ends.items()}

        def committed() -> bool:
            return {at: each.offset for at, each in self._cluster.committed(GROUP).items()} == wanted

        # Not within the journal, which the cluster's thread writes to.
        wait_for(f"a commit of {wanted}", committed, LIMIT_S)


@contextmanager
def _producing(bootstrap: str, plan: Plan, journal: Journal) -> Generator[None]:
    """Writes records as fast as they are read, and waits at the end until all are acknowledged."""
    over, random = threading.Event(), Random(plan.seed)
    producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True, "log_level": 0})

    def delivered(error: KafkaError | None, message: Message) -> None:
        if error:
            journal.failed(RuntimeError(f"a record was not written: {error}"))
        else:
            partition, offset, value = message.partition(), message.offset(), message.value()
            assert partition is not None
            assert offset is not None
            assert value is not None
            journal.acknowledged(partition, offset, int(value))

    def produce() -> None:
        number = 0
        while not over.is_set():
            for _ in range(PART):
                number += 1
                at = random.randrange(plan.partitions)
                producer.produce(TOPIC, str(number), partition=at, on_delivery=delivered)
            if producer.flush(LIMIT_S):
                journal.failed(TimeoutError("records are not acknowledged"))
            try:
                journal.wait(lambda: over.is_set() or len(journal.unread) < AHEAD, LIMIT_S)
            except ExceptionGroup:  # the driver raises it
                return

    thread = threading.Thread(target=produce)
    thread.start()
    try:
        yield
    finally:
        over.set()
        journal.note()
        thread.join()


def _listen(cluster: MockCluster, journal: Journal) -> None:
    """Notes what coordinators answer, in the cluster's thread."""

    def synchronised(request: ClientRequest) -> None:
        asked, answer = request.request, request.response
        if answer is not None and not answer.error_code:
            journal.note(Shared(asked.generation_id, asked.member_id, partitions_of(answer.assignment)))

    def committed(request: ClientRequest) -> None:
        asked, answer = request.request, request.response
        if answer is None:
            return
        good = {
            each.partition_index
            for topic in answer.topics
            for each in topic.partitions
            if each.error_code == ErrorCode.NONE
        }
        offsets = {
            each.partition_index: each.committed_offset
            for topic in asked.topics
            for each in topic.partitions
            if each.partition_index in good
        }
        journal.note(Accepted(asked.generation_id_or_member_epoch, asked.member_id, offsets))

    def asked(request: ClientRequest) -> None:
        if request.response is None or request.client_id is None:
            return
        (group,), (answer,) = request.request.groups, request.response.groups
        partitions = frozenset(index for topic in group.topics or () for index in topic.partition_indexes)
        journal.note(Asked(request.client_id, partitions, bool(answer.error_code)))

    cluster.on("OffsetFetch", asked, when="after", group=GROUP)
    cluster.on("SyncGroup", synchronised, when="after", group=GROUP)
    cluster.on("OffsetCommit", committed, when="after", group=GROUP)


def partitions_of(assignment: bytes) -> frozenset[int]:
    """Of the one topic, as `ConsumerProtocolAssignment` has it in every version: the version, the number of
    topics, the topic's name, its partitions."""
    if int.from_bytes(assignment[2:6]) == 0:
        return frozenset()
    at = 8 + int.from_bytes(assignment[6:8])
    count = int.from_bytes(assignment[at : at + 4])
    start = at + 4
    return frozenset(int.from_bytes(assignment[p : p + 4]) for p in range(start, start + 4 * count, 4))
