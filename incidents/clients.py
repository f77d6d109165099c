"""Applications that use a cluster while something happens to it, with clients of any language.

Each library is a driver, a process of its own, whose log is a file. What an application itself says of the
errors that it gets is a file, too.
"""

import itertools
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import trio

from mockbroker.clients.drivers import lines
from mockbroker.clients.drivers.driver import Driver, open_driver
from mockbroker.clients.drivers.lines import Answer
from mockbroker.clients.drivers.shipped import command_for, with_flags
from mockbroker.errors import MockBrokerError

LIBRARIES: Final = ("java", "confluent-kafka", "kafka-python")
"""Unless a story names its own."""
Place = tuple[str, int]
"""A topic and a partition."""
Says = Callable[[Mapping[str, Any]], str]
"""What a member of a share group says of a record."""
_POLL_MS: Final = 300
_CALL_MS: Final = 60_000
_GRACE_S: Final = 120.0
LOGS_OF_JAVA: Final = (
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=info",
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
    "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd HH:mm:ss,SSS",
    "-Duser.timezone=UTC",
    "-Xmx128m",
)


class ClientError(MockBrokerError, RuntimeError):
    """A client could not be opened, or could not write."""


class Told:
    """What an application logs: the errors that its client gives it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def of(self, handle: str, error: object) -> str:
        """Returns the error as it is logged."""
        seconds, part = divmod(time.time_ns() // 1_000_000, 1000)
        at = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(seconds))
        with self._path.open("a") as log:
            log.write(f"{at},{part:03} ERROR {handle}: {error}\n")
        return str(error)


class Producer:
    """`last` is the highest offset that was acknowledged, by partition; `failed` are errors."""

    def __init__(self, driver: Driver, handle: str, told: Told) -> None:
        self._driver, self.handle, self._told = driver, handle, told
        self.last: dict[Place, int] = {}
        self.failed: list[str] = []
        self._number = itertools.count()

    async def send(
        self,
        topic: str,
        partition: int,
        count: int,
        *,
        key: str | None = None,
        value: bytes | None = None,
        **more: Any,
    ) -> int:
        """The highest offset of these records, once all are acknowledged or given up; -1 for none. Each has a
        value of its own unless there is one. `more` is what only some drivers take."""
        begun = []
        for _ in range(count):
            fields: dict[str, Any] = {
                "topic": topic,
                "partition": partition,
                "key": None if key is None else key.encode(),
                "value": f"{self.handle} {next(self._number)}".encode() if value is None else value,
                **more,
            }
            begun.append(await self._driver.send("produce", self.handle, **fields))
        highest = -1
        for each in begun:
            answer = await each.wait()
            if answer.ok is not None and answer.ok["offset"] is not None:
                highest = max(highest, answer.ok["offset"])
            elif answer.error is not None:
                self.failed.append(self._told.of(self.handle, answer.error))
        if highest >= 0:
            self.last[topic, partition] = highest
        return highest

    async def do(self, verb: str, **fields: Any) -> Answer:
        """`begin`, `commit-transaction`, … with a timeout of a minute where there is one."""
        timed: dict[str, Any] = {} if verb == "begin" else {"timeout_ms": _CALL_MS}
        answer = await self._driver.call(verb, self.handle, **timed, **fields)
        if answer.error is not None:
            self._told.of(self.handle, answer.error)
        return answer

    async def close(self) -> None:
        await self._driver.call("close", self.handle, 5_000)


class Member:
    """A member of a group: it reads, and commits what it has read. `jumps` says where it went back to an
    offset below its own, or on to one above: place, expected offset, the offset that came. `began` has the
    first offset that came of each partition."""

    def __init__(self, driver: Driver, handle: str, group: str, at: dict[Place, int], told: Told) -> None:
        self._driver, self.handle, self.group, self._told = driver, handle, group, told
        self.at = at
        self.began: dict[Place, int] = {}
        self.jumps: list[tuple[Place, int, int]] = []
        self.refused: list[str] = []
        self._leaves = trio.Event()
        self._left = trio.Event()

    async def run(self) -> None:
        while not self._leaves.is_set():
            records = await self.read()
            if records:
                await self.commit(records)
            elif records is None:
                await trio.sleep(_POLL_MS / 1000)
        await self.close()
        self._left.set()

    async def read(self) -> Sequence[Any] | None:
        """The records of one poll; None if it failed."""
        answer = await self._driver.call("poll", self.handle, _POLL_MS)
        records: Sequence[Any] = answer.ok["records"] if answer.ok is not None else ()
        for error in () if answer.ok is None else answer.ok.get("errors", ()):
            self.refused.append(self._told.of(self.handle, lines.refusal(error)))
        for each in records:
            place = each["topic"], each["partition"]
            self.began.setdefault(place, each["offset"])
            if self.at.get(place, each["offset"]) != each["offset"]:
                self.jumps.append((place, self.at[place], each["offset"]))
            self.at[place] = each["offset"] + 1
        if not records and answer.error is not None:
            self.refused.append(self._told.of(self.handle, answer.error))
            return None
        return records

    async def commit(self, records: Sequence[Any]) -> None:
        done = await self._done(records)
        if done.error is not None:
            self.refused.append(self._told.of(self.handle, done.error))

    async def commit_at(self, offsets: Sequence[tuple[str, int, int]]) -> None:
        """Commits these, whatever it has read: topic, partition, offset. ClientError."""
        rows = [[*each] for each in offsets]
        _fine(await self._driver.call("commit", self.handle, _CALL_MS, offsets=rows))

    async def go_to_beginning(self, topic: str, partition: int) -> None:
        """Seeks to the first record of a partition, once it has that partition."""
        place: dict[str, Any] = {"topic": topic, "partition": partition, "to": "beginning"}
        while (await self._driver.call("seek", self.handle, **place)).error is not None:
            await self.read()
        self.began.pop((topic, partition), None)
        self.at[topic, partition] = 0

    async def hold_back(self, topic: str, partition: int) -> None:
        """Pauses a partition. ClientError."""
        _fine(await self._driver.call("pause", self.handle, partitions=[[topic, partition]]))

    async def go_on(self, topic: str, partition: int) -> None:
        """Resumes a partition. ClientError."""
        _fine(await self._driver.call("resume", self.handle, partitions=[[topic, partition]]))

    async def close(self) -> None:
        await self._driver.call("close", self.handle, 10_000)

    async def _done(self, records: Sequence[Any]) -> Answer:
        """Commits what it has read."""
        return await self._driver.call("commit", self.handle, _CALL_MS)

    async def leave(self) -> None:
        """Leaves the group, after the poll that is under way."""
        self._leaves.set()
        await self._left.wait()


class Worker(Member):
    """A member that writes for each record that it reads one to `target`, in transactions that commit its
    offsets too. ClientError if its producer can't go on."""

    def __init__(self, member: Member, producer: Producer, target: str) -> None:
        super().__init__(member._driver, member.handle, member.group, member.at, member._told)
        self._producer, self._target = producer, target

    async def _done(self, records: Sequence[Any]) -> Answer:
        offsets = {(each["topic"], each["partition"]): each["offset"] + 1 for each in records}
        _fine(await self._producer.do("begin"))
        for partition in {each["partition"] for each in records}:
            count = sum(each["partition"] == partition for each in records)
            await self._producer.send(self._target, partition, count)
        rows = [[*place, offset] for place, offset in offsets.items()]
        done = await self._producer.do("send-offsets", offsets=rows, consumer=self.handle)
        if done.error is None:
            done = await self._producer.do("commit-transaction")
        if done.error is not None:
            await self._undo([*offsets])
        return done

    async def _undo(self, places: list[Place]) -> None:
        """What it has read since its last transaction is to be read again."""
        _fine(await self._producer.do("abort-transaction"))
        answer = await self._driver.call(
            "committed", self.handle, _CALL_MS, partitions=[[*each] for each in places]
        )
        _fine(answer)
        for topic, partition, offset in (answer.ok or {})["offsets"]:
            self.at[topic, partition] = offset or 0
            # It may have lost the partition meanwhile.
            await self._driver.call("seek", self.handle, topic=topic, partition=partition, offset=offset or 0)


class Sharer(Member):
    """A member of a share group, which says of each record what `says` says of it: `accept`, `release` or
    `reject`. `given` counts how often each record came, by place and offset; `done` are the records whose
    acceptance or rejection was confirmed."""

    def __init__(self, member: Member, says: Says) -> None:
        super().__init__(member._driver, member.handle, member.group, member.at, member._told)
        self._says = says
        self.given: Counter[tuple[Place, int]] = Counter()
        self.done: set[tuple[Place, int]] = set()

    async def _done(self, records: Sequence[Any]) -> Answer:
        said = set[tuple[Place, int]]()
        for each in records:
            place = each["topic"], each["partition"]
            self.given[place, each["offset"]] += 1
            word = self._says(each)
            where: dict[str, Any] = {name: each[name] for name in ("topic", "partition", "offset")}
            _fine(await self._driver.call("acknowledge", self.handle, **{**where, "as": word}))
            if word != "release":
                said.add((place, each["offset"]))
        done = await self._driver.call("commit", self.handle, _CALL_MS)
        results = () if done.ok is None else done.ok["results"]
        refused = {(topic, partition) for topic, partition, error in results if error is not None}
        self.done |= {each for each in said if done.error is None and each[0] not in refused}
        return done


AnyMember = TypeVar("AnyMember", bound=Member)


class Applications:
    """All clients of a recording."""

    def __init__(self, servers: str, opened: AsyncExitStack, logs: Path, nursery: trio.Nursery) -> None:
        self._servers, self._opened, self._logs, self._nursery = servers, opened, logs, nursery
        self._drivers: dict[str, Driver] = {}
        self._told: dict[str, Told] = {}
        self._numbers = itertools.count(1)
        self.at: dict[str, dict[Place, int]] = {}
        """The next offset that each group will read."""
        self.members: list[Member] = []
        self._last: dict[str, Producer] = {}

    async def start(self, library: str, name: str) -> None:
        """Starts a process of a library, for which `name` stands from then on. Its log is `NAME.log`. Not
        within a nursery of the story. BuildError."""
        command = [*command_for(library)]
        if library == "java":
            command = with_flags(command, *LOGS_OF_JAVA)
        environment = {"MOCKBROKER_DRIVER_LOGS": "1", "PYTHONUNBUFFERED": "1", "TZ": "UTC"}
        self._drivers[name] = await self._opened.enter_async_context(
            open_driver(command, environment, self._logs / f"{name}.log")
        )
        self._drivers[name].grace_s = _GRACE_S  # also of processes that stand still for a while
        self._told[name] = Told(self._logs / f"{name}-application.log")

    def kill(self, name: str) -> None:
        """Ends a process as `kill -9` does."""
        self._drivers[name].kill()

    def hold(self, name: str) -> None:
        """A process stands still until it is let go, as in a long pause of its garbage collector."""
        self._drivers[name].hold()

    def let_go(self, name: str) -> None:
        self._drivers[name].let_go()

    async def producer(self, library: str, **config: Any) -> Producer:
        """Underscores in names of settings stand for dots."""
        number = next(self._numbers)
        handle = f"writer-{number}"
        own = {"client.id": handle, "acks": "all"}
        await self._open(library, handle, "producer", {**own, **dotted(config)})
        return Producer(self._drivers[library], handle, self._told[library])

    async def send(self, library: str, topic: str, partition: int, count: int) -> int:
        """By the library's usual producer. ClientError if one record is not acknowledged."""
        if library not in self._last:
            self._last[library] = await self.producer(library)
        producer = self._last[library]
        last = await producer.send(topic, partition, count)
        if producer.failed:
            raise ClientError(f"{library} could not write to {topic}: {producer.failed[0]}")
        return last

    async def member(self, library: str, group: str, topics: Sequence[str], **config: Any) -> Member:
        """Joins a group, and reads from then on."""
        return self.begin(await self.joined(library, group, topics, **config))

    async def worker(self, library: str, group: str, source: str, target: str) -> Worker:
        """Joins a group, and works from then on."""
        member = await self.joined(library, group, [source], isolation_level="read_committed")
        producer = await self.producer(library, transactional_id=f"{member.handle}-writes")
        return self.begin(Worker(member, producer, target))

    def begin(self, member: AnyMember) -> AnyMember:
        """One that read only when it was told to reads from then on."""
        self.members.append(member)
        self._nursery.start_soon(member.run)
        return member

    async def joined(
        self, library: str, group: str, topics: Sequence[str], *, fails_on: str | None = None, **config: Any
    ) -> Member:
        """A member that reads only when it is told to. It can't read values that begin with `fails_on`."""
        handle = f"{group}-{next(self._numbers)}"
        own: dict[str, Any] = {
            "client.id": handle,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
        if config.get("group_protocol") != "consumer":  # whose coordinator sets them
            own |= {"session.timeout.ms": 10_000, "heartbeat.interval.ms": 1_000}
        refuses = {} if fails_on is None else {"fails_on": fails_on}
        await self._open(library, handle, "consumer", {**own, **dotted(config)}, **refuses)
        driver = self._drivers[library]
        _fine(await driver.call("subscribe", handle, topics=list(topics)))
        return Member(driver, handle, group, self.at.setdefault(group, {}), self._told[library])

    async def sharer(self, library: str, group: str, topics: Sequence[str], says: Says) -> Sharer:
        """Joins a share group, and works from then on."""
        return self.begin(await self.shared(library, group, topics, says))

    async def shared(self, library: str, group: str, topics: Sequence[str], says: Says) -> Sharer:
        """A member of a share group that works only when it is told to."""
        handle = f"{group}-{next(self._numbers)}"
        config = {"client.id": handle, "group.id": group, "share.acknowledgement.mode": "explicit"}
        await self._open(library, handle, "share-consumer", config)
        driver = self._drivers[library]
        _fine(await driver.call("subscribe", handle, topics=list(topics)))
        member = Member(driver, handle, group, self.at.setdefault(group, {}), self._told[library])
        return Sharer(member, says)

    async def leave(self, *members: Member) -> None:
        async with trio.open_nursery() as nursery:
            for each in members:
                nursery.start_soon(each.leave)
                self.members.remove(each)

    async def _open(self, library: str, handle: str, kind: str, config: dict[str, Any], **more: str) -> None:
        servers = {"bootstrap.servers": self._servers}
        fields: dict[str, Any] = {"kind": kind, "config": {**servers, **config}, **more}
        answer = await self._drivers[library].call("open", handle, _CALL_MS, **fields)
        if answer.error is not None:
            self._told[library].of(handle, answer.error)
        _fine(answer)


def dotted(config: dict[str, Any]) -> dict[str, Any]:
    return {name.replace("_", "."): value for name, value in config.items()}


def _fine(answer: Answer) -> None:
    if answer.error is not None:
        raise ClientError(f"a client refused: {answer.error}")


@asynccontextmanager
async def applications(
    servers: str, logs: Path, libraries: Sequence[str] = LIBRARIES
) -> AsyncIterator[Applications]:
    """One process for each library, whose log is `LIBRARY.log` in the folder. BuildError."""
    async with trio.open_nursery() as nursery:
        async with AsyncExitStack() as opened:
            clients = Applications(servers, opened, logs, nursery)
            for library in libraries:
                await clients.start(library, library)
            yield clients
        nursery.cancel_scope.cancel()
