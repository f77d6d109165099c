"""The scenario that every client runs: its steps, its events and the checks on them.

A topic of three partitions is filled with records. Member "a" of a group reads a part of them, "b" joins
while "a" holds, both read the rest, commit and leave. Then 100 more are produced, and restarted members of
the same group must read exactly these.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Protocol

PARTITIONS = 3
RECORDS = 1_200
MANY = 4_000
"""Where a run has to last, or a program reads ahead: more than fits into it, its pipe and `process.CHUNK`."""
EXTRA = 100
PART = 150
"""So many records "a" has read at least when "b" joins; no partition is finished then."""
BATCH = 100
"""No poll returns more records than this."""
TIMEOUT = 120.0
SESSION_MS = 60_000
"""Of a member: a static one that has left has to be back within it, however slow the machine is."""

Event = dict[str, Any]
FILLER = "mock" * 20


@dataclass(frozen=True)
class Plan:
    """What varies between runs; several plans can share one process of a client."""

    topic: str
    codec: str = "none"
    assignor: str = "range"
    static: bool = False
    idempotent: bool = False
    records: int = RECORDS

    @property
    def group(self) -> str:
        return f"{self.topic}-group"

    def event(self) -> Event:
        return {"event": "plan", **asdict(self)}


class Record(NamedTuple):
    partition: int
    offset: int
    key: bytes
    value: bytes


class Member(Protocol):
    """One consumer of a group."""

    @property
    def assigned(self) -> frozenset[int]: ...

    def poll(self) -> Sequence[Record]:
        """At most BATCH records, after a short wait; takes part in rebalances."""

    def hold(self) -> None:
        """From now on read little or nothing, but stay in the group."""

    def release(self) -> None: ...

    def commit(self) -> None: ...

    def committed(self) -> Mapping[int, int]: ...

    def close(self) -> None: ...


class Client(Protocol):
    def create(self, topic: str) -> None: ...

    def produce(self, plan: Plan, indexes: range) -> None:
        """Record i goes to partition i % 3, where the client has a say in it."""

    def member(self, plan: Plan, instance: str) -> Member: ...


def key(index: int) -> bytes:
    return b"key-%05d" % index


def value(index: int) -> bytes:
    return f"value-{index:05d}-{FILLER}".encode()


def index(record: Record) -> int:
    """The index of a record as it was produced."""
    found = int(record.key.removeprefix(b"key-"))
    assert record.key == key(found), record
    assert record.value == value(found), record
    return found


class Run:
    """Walks one client through the steps, for one plan."""

    def __init__(self, client: Client, plan: Plan) -> None:
        self.client, self.plan = client, plan
        self.events: list[Event] = [plan.event()]
        self.members: dict[str, Member] = {}
        self.assigned: dict[str, frozenset[int]] = {}
        self.seen: set[int] = set()
        self.extra: set[int] = set()

    def emit(self, event: str, **fields: object) -> None:
        self.events.append({"event": event, **fields})

    def until(self, done: Callable[[], bool]) -> None:
        """Poll all members until the condition holds."""
        end = time.monotonic() + TIMEOUT
        while not done():
            for name, member in self.members.items():
                self.poll(name, member)
            assert time.monotonic() < end, (
                f"no progress: {len(self.seen)} + {len(self.extra)}, {self.assigned}"
            )

    def poll(self, name: str, member: Member) -> None:
        records = member.poll()
        self.note(name, member)
        by_partition: dict[int, list[tuple[int, int]]] = {}
        for record in records:
            by_partition.setdefault(record.partition, []).append((record.offset, index(record)))
        for partition, pairs in by_partition.items():
            offsets, values = ([pair[i] for pair in pairs] for i in (0, 1))
            self.emit("records", member=name, partition=partition, offsets=offsets, values=values)
            self.seen.update(i for i in values if i < self.plan.records)
            self.extra.update(i for i in values if i >= self.plan.records)

    def note(self, name: str, member: Member) -> None:
        assigned = member.assigned
        if assigned != self.assigned.get(name, frozenset()):
            self.assigned[name] = assigned
            self.emit("assigned", member=name, partitions=sorted(assigned))

    def split(self) -> bool:
        """Whether all members have partitions, and all partitions a member."""
        parts = [self.assigned.get(name, frozenset()) for name in self.members]
        return all(parts) and sorted(p for part in parts for p in part) == list(range(PARTITIONS))

    def join(self, name: str, instance: str) -> None:
        self.emit("joining", member=name)
        self.members[name] = self.client.member(self.plan, instance)

    def leave(self) -> None:
        for member in self.members.values():
            member.close()
        self.members.clear()

    def run(self) -> list[Event]:
        try:
            self.steps()
        finally:
            self.leave()
        return self.events

    def steps(self) -> None:
        client, plan = self.client, self.plan
        client.create(plan.topic)
        client.produce(plan, range(plan.records))
        self.emit("produced", count=plan.records)
        self.join("a", "a")
        # A program tells of its partitions elsewhere than of its records, and may be heard later.
        self.until(lambda: len(self.seen) >= PART and self.split())
        self.members["a"].hold()
        self.join("b", "b")
        self.until(self.split)
        self.members["a"].release()
        self.until(lambda: len(self.seen) == plan.records)
        committed: dict[int, int] = {}
        for member in self.members.values():
            member.commit()
            committed |= member.committed()
        self.emit("committed", offsets=committed)
        self.leave()
        client.produce(plan, range(plan.records, plan.records + EXTRA))
        self.emit("restarted")
        self.join("a2", "a")
        if plan.static:  # "b" is still a member: it left without saying so
            self.join("b2", "b")
        self.until(lambda: len(self.extra) == EXTRA and self.split())
        for member in self.members.values():
            member.commit()
        self.leave()
        self.emit("done")


def run(client: Client, plan: Plan) -> list[Event]:
    return Run(client, plan).run()


class Told(NamedTuple):
    """The events of one plan, in parts."""

    assigned: dict[str, list[int]]
    records: list[Event]


def told(events: Iterable[Event]) -> Told:
    assigned: dict[str, list[int]] = {}
    records = []
    for event in events:
        if event["event"] == "assigned" and event["partitions"]:
            assigned[event["member"]] = event["partitions"]
        elif event["event"] == "records":
            records.append(event)
    return Told(assigned, records)


def values(records: Iterable[Event]) -> list[int]:
    return [i for event in records for i in event["values"]]


def check(events: Sequence[Event], *, explicit: bool = True, exactly_once: bool = True) -> None:
    """Check the events of one plan.

    explicit: the client put record i into partition i % 3, in order;
    exactly_once: it commits when partitions are taken from it, so that nothing is read twice.
    """
    plan, names = events[0], [event["event"] for event in events]
    assert plan["event"] == "plan"
    count = plan["records"]
    assert names[-1] == "done", names[-1]
    assert sum(event["count"] for event in events if event["event"] == "produced") == count
    joins = [i for i, event in enumerate(events) if event["event"] == "joining"]
    restart = names.index("restarted")
    alone, both, after = events[: joins[1]], events[joins[1] : restart], events[restart:]

    assert told(alone).assigned == {"a": list(range(PARTITIONS))}
    before = values(told(alone).records)
    assert 0 < len(before) < count
    shared = told(both)
    assert set(shared.assigned) == {"a", "b"}
    assert sorted(shared.assigned["a"] + shared.assigned["b"]) == list(range(PARTITIONS))
    assert {event["member"] for event in shared.records} == {"a", "b"}
    read = before + values(shared.records)
    assert set(read) == set(range(count))
    if exactly_once:
        assert len(read) == count
    resumed = told(after)
    assert sorted(values(resumed.records)) == list(range(count, count + EXTRA))
    if plan["static"]:
        assert resumed.assigned == {f"{name}2": parts for name, parts in shared.assigned.items()}
    else:
        assert resumed.assigned == {"a2": list(range(PARTITIONS))}

    check_places(told(events).records, explicit)
    ends = {p: count // PARTITIONS + (p < count % PARTITIONS) for p in range(PARTITIONS)}
    for event in events:
        if event["event"] == "committed":
            offsets = {int(p): offset for p, offset in event["offsets"].items()}
            assert sum(offsets.values()) == count
            assert not explicit or offsets == ends


def check_places(records: Iterable[Event], explicit: bool) -> None:
    """Each record is where it was put, and has one place."""
    places: dict[tuple[int, int], int] = {}
    for event in records:
        for offset, i in zip(event["offsets"], event["values"], strict=True):
            place = (event["partition"], offset)
            assert places.setdefault(place, i) == i
            assert not explicit or place == (i % PARTITIONS, i // PARTITIONS)
    assert len(set(places.values())) == len(places), "one record in two places"
    assert {partition for partition, _ in places} == set(range(PARTITIONS))
