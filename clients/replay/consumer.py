"""A real consumer in a model consumer's place.

If its driver can, it is assigned the partition, as the model's is: it asks for the group's committed offset,
and keeps what it knows of leaders while it owns nothing.
"""

import random
import struct
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

import trio

from mockbroker.server.mock_cluster import MockCluster
from mockbroker.simulation.batches import Records
from mockbroker.simulation.consumer import ModelConsumer, State
from mockbroker.simulation.consumer_setting import Commit, ConsumerSetting, Reset
from mockbroker.simulation.consumption import record_at
from mockbroker.simulation.scene import GROUP, TOPIC

from ..drivers import Answer, Refusal
from ..drivers.in_thread import Client
from ..drivers.lines import binary, refusal
from .client import Handle
from .stage import Stage
from .watching import at

T = TypeVar("T")
_COMMIT_MS: Final = 2_000
_POLL_MS: Final = 50
NUMBER: Final = struct.Struct(">q")
"""The value of a record in a log that is not compacted."""
_NOTHING_READ: Final = "_NO_OFFSET"
"""What librdkafka says to a commit if it has read nothing since the last one."""
_NO_POSITION: Final = ("autooffsetreset", "logtruncation", "nooffsetforpartition", "offsetoutofrange")
"""What clients call it that a consumer has no position, and none is to be taken for it."""


class _Run(NamedTuple):
    """Records that follow each other in everything."""

    base: int
    end: int
    epoch: int
    first: int


class Consumer(ModelConsumer):
    """Looks like a model consumer to those who ask about it; a real one does the work, and is watched.

    The world that it is in is touched in the cluster's thread only, or while that waits. A task in the
    driver's thread does what the history asks of it, one thing after the other, and polls meanwhile.
    """

    def __init__(
        self, client: Client, cluster: MockCluster, stage: Stage, name: str, setting: ConsumerSetting
    ) -> None:
        super().__init__(stage, stage.consumption, name, GROUP, (TOPIC, 0), setting)
        self._cluster, self._stage = cluster, stage
        self._stays = "group-assign" in client.capabilities
        self._open = self._owns = False
        self._next: int | None = None
        """The offset after what it has read since it was given the partition."""
        self._random = random.Random(f"{stage.plan.seed} {name}")
        self._config = {
            "bootstrap.servers": cluster.bootstrap_servers,
            "group.id": GROUP,
            "auto.offset.reset": str(setting.reset),
            "enable.auto.commit": False,
            "fetch.max.wait.ms": 500,
            "isolation.level": "read_committed" if setting.read_committed else "read_uncommitted",
        }
        self._handle: Handle[Callable[[], Awaitable[None]]] = Handle(
            client, name, lambda text: self._in_cluster(partial(self._dies, text))
        )
        self._handle.begin(self._run)

    # -- in the cluster's thread

    def start(self) -> None:
        self.state, self.position = State.FETCHING, None
        self._handle.do(self._own)

    def stop(self, commit: bool, then: Callable[[], None]) -> None:
        commit = commit and self.state is State.FETCHING and self.position is not None
        self.state, self.position = State.IDLE, None
        self._handle.do(partial(self._leave, commit, then))

    def close(self) -> None:
        """Ends it, wherever it is. For the history's thread."""
        self._handle.end()

    # -- in the driver's thread

    async def _run(self) -> None:
        if self._stays:
            await self._is_open()
        async for what in self._handle.to_do:
            await what()
            while self._owns:
                try:
                    another = self._handle.to_do.receive_nowait()
                except trio.WouldBlock:
                    await self._poll()
                except trio.EndOfChannel:
                    break
                else:
                    await another()
        await self._close()

    async def _is_open(self) -> bool:
        if not self._open:
            error = await self._handle.open("consumer", self._config)
            self._open = not error
            if error:
                self._in_cluster(lambda: self.tell(f"can't be opened: {error}"))
        return self._open

    async def _close(self) -> None:
        if self._open:
            self._open = False
            await self._handle.close()

    async def _own(self) -> None:
        if await self._is_open():
            self._owns, self._next = True, None
            if self._stays:
                await self._ask("assign", partitions=[[TOPIC, 0]])
            else:
                await self._ask("subscribe", topics=[TOPIC])

    async def _leave(self, commit: bool, then: Callable[[], None]) -> None:
        if commit:
            await self._commit_position()
        self._owns = False
        if self._stays:
            await self._ask("assign", partitions=[])
        else:
            await self._close()
        self._in_cluster(then)

    async def _poll(self) -> None:
        answer = await self._handle.call("poll", _POLL_MS)
        if answer is None:
            self._owns = False
            return
        for error in _errors(answer):
            if self.setting.reset is Reset.NONE and _is_without_position(error):
                self._in_cluster(partial(self._gives_up, error))
            elif self._in_cluster(partial(self._begins_again, error)):
                await self._own()
        if records := (answer.ok or {}).get("records", ()):
            self._next = records[-1]["offset"] + 1
            self._in_cluster(partial(self._read, records))
            if self._random.random() < self._stage.plan.commit_rate:
                await self._commit_position()

    async def _commit_position(self) -> None:
        if self._next is None:
            return  # nothing read since
        fields = {} if self.setting.commit is not Commit.NO_EPOCH else {"offsets": [[TOPIC, 0, self._next]]}
        await self._ask("commit", _COMMIT_MS, **fields)

    async def _ask(self, verb: str, timeout_ms: int | None = None, **fields: Any) -> None:
        answer = await self._handle.call(verb, timeout_ms, **fields)
        if answer is not None and answer.error is not None and answer.error.name != _NOTHING_READ:
            told = f"can't {verb}: {answer.error}"
            self._in_cluster(lambda: self.tell(told))

    # -- in the cluster's thread, as told by the driver's

    def _read(self, records: list[Mapping[str, Any]]) -> None:
        if self.state is not State.FETCHING:
            return  # it was stopped meanwhile, before the application had them
        for run in self._runs(records):
            numbers = range(run.first, run.first + run.end - run.base)
            self._stage.consumption.delivered(
                self, run.base, Records(run.base, run.end, run.epoch, range(run.base, run.end), numbers)
            )
            self.position = at(run.end, run.epoch)

    def _runs(self, records: list[Mapping[str, Any]]) -> Iterator[_Run]:
        run: _Run | None = None
        for record in records:
            offset, number = record["offset"], _number_of(record)
            epoch = self._epoch_of(offset, number)
            if run is not None and (run.end, run.epoch, run.first + run.end - run.base) == (
                offset,
                epoch,
                number,
            ):
                run = run._replace(end=offset + 1)
                continue
            if run is not None:
                yield run
            run = _Run(offset, offset + 1, epoch, number)
        if run is not None:
            yield run

    def _epoch_of(self, offset: int, number: int) -> int:
        """Drivers don't tell the leader epoch of a record: it is the highest that a log has it with, -1 if
        none has it any more."""
        found = [record_at(log, offset) for log in self._stage.partition(self.place).logs.values()]
        return max((epoch for each, epoch in filter(None, found) if each == number), default=-1)

    def _gives_up(self, error: Refusal) -> None:
        what = f"raises {error}"
        if self.position is None:
            self.tell(what)
        else:
            self._stage.consumption.lost_position(self, self.position, what)
        self.state = State.FAILED

    def _begins_again(self, error: Refusal) -> bool:
        """Whether the application has to begin again, since the committed offset could not be fetched."""
        self.tell(f"is told {error}")
        return self._stays and self.state is State.FETCHING and self.position is None

    def _dies(self, text: str) -> None:
        self.tell(text)
        self.state = State.FAILED

    def _in_cluster(self, action: Callable[[], T]) -> T:
        return self._cluster.run(lambda _: action())


def _errors(answer: Answer) -> list[Refusal]:
    """Those of a poll: it raised one, or returned some."""
    return [answer.error] if answer.error else [refusal(each) for each in (answer.ok or {}).get("errors", ())]


def _is_without_position(error: Refusal) -> bool:
    name = error.name.replace("_", "").lower()
    return any(each in name for each in _NO_POSITION)


def _number_of(record: Mapping[str, Any]) -> int:
    if headers := record.get("headers"):
        return int(headers[0][0], 16)
    value = binary(record["value"])
    assert value is not None
    return int(NUMBER.unpack(value)[0])
