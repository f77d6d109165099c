"""A real consumer of a group that somebody else watches: what it read, what it logged, what it raised."""

import base64
import enum
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import trio

from mockbroker.clients.drivers import Answer
from mockbroker.clients.drivers.in_thread import taken
from mockbroker.clients.drivers.shipped import LOG_LEVEL
from mockbroker.rig.waiting import LIMIT_S, wait_for

from .library import Library

QUICK: Final = {
    "enable.auto.commit": False,
    "heartbeat.interval.ms": 100,
    "session.timeout.ms": 10_000,
    "fetch.max.wait.ms": 100,
    "fetch.error.backoff.ms": 20,
    "fetch.queue.backoff.ms": 20,
    "retry.backoff.ms": 20,
    "reconnect.backoff.ms": 20,
    "reconnect.backoff.max.ms": 20,
    "topic.metadata.refresh.fast.interval.ms": 20,
}
"""Makes a consumer act soon; leaves out nothing that it does."""
_POLL_MS: Final = 20
_CLOSE_MS: Final = 10_000
_COMMIT_MS: Final = 60_000
_NOTHING_READ: Final = "_NO_OFFSET"
_LOGGED: Final = (
    f"{LOG_LEVEL}=error",
    "-Dorg.slf4j.simpleLogger.log.org.apache.kafka.clients.consumer.internals=info",
)
_SAID_BY_JAVA: Final = re.compile(r"\[Consumer clientId=([^,\]]+), groupId=[^\]]*\] (.*)")
_SAID_BY_LIBRDKAFKA: Final = re.compile(r"%\d\|[\d.]+\|(\w+)\|((.+)#consumer-\d+)\| (.*)")


class Commit(enum.Enum):
    """What a consumer commits when partitions are taken from it."""

    POSITION = "its position, with the epoch of the last record it read"
    NO_EPOCH = "the offset alone"
    LEADER_EPOCH = "its position, with the current leader's epoch if that is higher"


class Read(NamedTuple):
    """A record as a consumer got it; every record's value is a number."""

    topic: str
    partition: int
    offset: int
    epoch: int
    value: int


class Consumer:
    """What one consumer did so far. Its client fills this in, in another thread."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.records: list[Read] = []
        self.log: list[str] = []
        self.raised: str | None = None
        self.assigned: frozenset[str] = frozenset()
        """`topic-partition` of each."""
        self.closed = False
        self.last: dict[tuple[str, int], Read] = {}
        """By topic and partition."""
        self.leaving = trio.Event()
        self._changed = threading.Condition()

    def note(
        self,
        *,
        records: list[Read] | None = None,
        log: str | None = None,
        raised: str | None = None,
        assigned: frozenset[str] | None = None,
        closed: bool = False,
    ) -> None:
        """Something happened: wakes those who wait for it."""
        with self._changed:
            self.records += records or []
            self.last |= {(each.topic, each.partition): each for each in records or []}
            self.log += [log] if log else []
            self.raised = self.raised or raised
            self.assigned = self.assigned if assigned is None else assigned
            self.closed = self.closed or closed
            self._changed.notify_all()

    def wait(self, until: Callable[[], bool], limit_s: float = LIMIT_S) -> bool:
        """Whether `until` came true, looked at after each event."""
        with self._changed:
            return self._changed.wait_for(until, limit_s)

    def has_read(self, value: int) -> bool:
        return any(record.value == value for record in self.records)


class Client(Library):
    """A library of a version, with any number of consumers. building.BuildError.

    `commits` are what its consumers can commit.
    """

    def __init__(self, client: str, version: str | None) -> None:
        super().__init__(client, version, _LOGGED)
        self.commits = tuple(Commit) if client == "java" else (Commit.POSITION, Commit.NO_EPOCH)
        self._consumers: dict[str, Consumer] = {}
        self.driven.driver.printed = self._log

    def open(
        self,
        name: str,
        bootstrap: str,
        topics: Sequence[str],
        group: str,
        commit: Commit,
        config: Mapping[str, str],
    ) -> Consumer:
        """Starts a consumer that polls all the time. `config` is in Java's names."""
        consumer = self._consumers[name] = Consumer(name)
        self.driven.listen(name, partial(self._heard, consumer, commit))
        own = {"bootstrap.servers": bootstrap, "group.id": group, "client.id": name}
        self.driven.call("open", name, _CLOSE_MS, kind="consumer", config={**own, **QUICK, **config})
        self.driven.call("subscribe", name, topics=list(topics), stops_at=["revoked"])
        self.driven.begin(partial(self._poll, consumer))
        return consumer

    def close(self, consumer: Consumer) -> None:
        """Lets a consumer commit and leave; returns when it has."""
        self.driven.later(consumer.leaving.set)
        wait_for(f"{consumer.name} to leave", lambda: consumer.closed)
        del self._consumers[consumer.name]

    async def _call(
        self, verb: str, consumer: Consumer, timeout_ms: int | None = None, **fields: Any
    ) -> Answer:
        return await self.driven.driver.call(verb, consumer.name, timeout_ms, **fields)

    async def _poll(self, consumer: Consumer) -> None:
        while not (consumer.leaving.is_set() or consumer.raised):
            answer = await self._call("poll", consumer, _POLL_MS)
            for each in () if answer.ok is None else answer.ok["records"]:
                at = each["topic"], each["partition"], each["offset"], each.get("leader_epoch", -1)
                consumer.note(records=[Read(*at, int(base64.b64decode(each["value"])))])
            _note_error(consumer, answer)
        await consumer.leaving.wait()
        _note_error(consumer, await self._call("close", consumer, _CLOSE_MS))
        self.driven.driver.forget(consumer.name)
        consumer.note(closed=True)

    def _heard(self, consumer: Consumer, commit: Commit, event: str, line: Mapping[str, Any]) -> None:
        if event == "error":
            return
        partitions = {f"{topic}-{partition}" for topic, partition in line["partitions"]}
        given = event == "assigned"
        consumer.note(assigned=consumer.assigned | partitions if given else consumer.assigned - partitions)
        if event == "revoked":
            self.driven.begin(partial(self._commit, consumer, commit, line["partitions"]))

    async def _commit(self, consumer: Consumer, commit: Commit, revoked: Sequence[Sequence[Any]]) -> None:
        fields: dict[str, Any] = {}
        if commit is not Commit.POSITION:
            last = [consumer.last[at] for at in map(tuple, revoked) if at in consumer.last]
            fields["offsets"] = [
                [each.topic, each.partition, each.offset + 1, *await self._epochs(consumer, commit, each)]
                for each in last
            ]
        if fields.get("offsets") != []:
            _note_error(consumer, await self._call("commit", consumer, _COMMIT_MS, **fields))
        await self._call("go-on", consumer)

    async def _epochs(self, consumer: Consumer, commit: Commit, read: Read) -> list[int]:
        if commit is not Commit.LEADER_EPOCH:
            return []
        partitions = [[read.topic, read.partition]]
        seen = taken(await self._call("last-seen-epochs", consumer, partitions=partitions))
        ((_, _, epoch),) = seen["epochs"]
        return [max(read.epoch, -1 if epoch is None else epoch)]

    def _log(self, line: str) -> None:
        if said := _SAID_BY_JAVA.search(line):
            name, text = said.groups()
        elif said := _SAID_BY_LIBRDKAFKA.match(line):
            facility, handle, name, text = said.groups()
            text = f"{facility} [{handle}] {text}"
        else:
            return
        if name in self._consumers:
            self._consumers[name].note(log=text)


def _note_error(consumer: Consumer, answer: Answer) -> None:
    errors = (answer.ok or {}).get("errors", ())
    for name, text in [(each["name"], each["message"]) for each in errors]:
        consumer.note(raised=name, log=text)
    if answer.error is not None and answer.error.name != _NOTHING_READ:
        consumer.note(raised=answer.error.name, log=answer.error.message)
