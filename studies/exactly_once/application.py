"""The application with any client that has a driver, as the documentation of each client says to write it."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import trio

from mockbroker.clients.drivers import Driver, Refusal
from mockbroker.clients.drivers.driver import Pending
from mockbroker.clients.drivers.in_thread import RefusedError, taken
from mockbroker.clients.drivers.shipped import JAVA

from ..clients import Library
from .case import BATCH, GROUP, INPUT, OUTPUT, PAUSE_MS, RECORDS, TRANSACTIONAL_ID

_SOON: Final = {
    "request.timeout.ms": 1000,
    "retry.backoff.ms": 20,
    "reconnect.backoff.ms": 20,
    "reconnect.backoff.max.ms": 50,
    "topic.metadata.refresh.fast.interval.ms": 20,
}
_CONSUMER: Final = {
    "group.id": GROUP,
    "isolation.level": "read_committed",
    "enable.auto.commit": False,
    "auto.offset.reset": "earliest",
    "fetch.max.wait.ms": 50,
    "max.poll.records": BATCH,
    "heartbeat.interval.ms": 500,
    "session.timeout.ms": 10_000,
    "default.api.timeout.ms": 2000,
}
_PRODUCER: Final = {
    "transactional.id": TRANSACTIONAL_ID,
    "transaction.timeout.ms": 20_000,
    "delivery.timeout.ms": 10_000,
    "max.block.ms": 10_000,
    "enable.idempotence": True,
}
_POLL_MS: Final = 100
_IDLE_S: Final = 4.0
_END_S: Final = 5.0
_UNTIMED: Final = ("begin", "subscribe", "seek")
_NUMBERS: Final = itertools.count(1)


class Application(Library):
    """A client's program that moves records from one topic to the other, in transactions of a few.

    `bumps_epochs`: it speaks KIP-890's second part, which ends a transaction with a new epoch.
    """

    def __init__(self, client: str, version: str | None) -> None:
        super().__init__(client, version)
        self.driven.driver.grace_s = 60.0
        self._mover = {"aiokafka": _Aiokafka, "confluent-kafka": _Librdkafka}.get(client, _Mover)
        self.bumps_epochs = client == "java" and int((version or JAVA).split(".")[0]) >= 4

    def move(self, bootstrap: str, limit_s: float) -> list[str]:
        """Returns the errors that it overcame, once all are moved. TimeoutError when that takes too long."""
        mover = self._mover(self.driven.driver, bootstrap)
        if not self.driven.run(lambda: mover.run(limit_s)):
            raise TimeoutError(f"not all were moved; its errors were {', '.join(mover.errors) or 'none'}")
        return mover.errors


class _Mover:
    """As KafkaProducer's documentation says: an error that is not fatal aborts the transaction."""

    OPERATION_MS: ClassVar[int | None] = 2000
    CLOSE_MS: ClassVar = 0

    def __init__(self, driver: Driver, bootstrap: str) -> None:
        self.driver, self.servers = driver, {"bootstrap.servers": bootstrap, **_SOON}
        self.errors: list[str] = []
        number = next(_NUMBERS)
        self.consumer, self.opened = f"reads-{number}", f"writes-{number}"
        self.producer = ""
        """`opened` if it is open."""
        self.begun = False
        """Whether it is between the beginning and the end of a transaction."""
        self.came = 0.0
        """When it joined, or last read something."""
        self.assigned: list[list[Any]] = []
        self.read: dict[int, int] = {}
        """The next offset, by partition."""

    async def run(self, limit_s: float) -> bool:
        """Whether all were moved within the limit."""
        with trio.move_on_after(limit_s) as limit:
            await self.join()
            while not await self.all_moved():
                try:
                    if not self.producer:
                        await self.open()
                    await self.move_some()
                except RefusedError as raised:
                    self.errors.append(raised.refusal.name)
                    await self.overcome(raised.refusal)
        with trio.move_on_after(_END_S, shield=True):
            await self.close()
            await self.leave()
        return not limit.cancelled_caught

    async def ask(self, verb: str, handle: str, **fields: Any) -> Mapping[str, Any]:
        """RefusedError."""
        timeout_ms = None if verb in _UNTIMED else self.OPERATION_MS
        return taken(await self.driver.call(verb, handle, timeout_ms, **fields))

    async def join(self) -> None:
        self.came = trio.current_time()
        self.driver.listen(self.consumer, self.heard)
        await self.ask("open", self.consumer, kind="consumer", config={**self.servers, **_CONSUMER})
        await self.ask("subscribe", self.consumer, topics=[INPUT])

    async def leave(self) -> None:
        await self.driver.call("close", self.consumer, int(1000 * _END_S))
        self.driver.forget(self.consumer)
        self.assigned = []

    def heard(self, event: str, line: Mapping[str, Any]) -> None:
        if event != "error":
            self.assigned = line["partitions"] if event == "assigned" else []

    async def open(self) -> None:
        await self.ask("open", self.opened, kind="producer", config={**self.servers, **_PRODUCER})
        self.producer = self.opened
        await self.rewind()

    async def close(self) -> None:
        """Whatever was open is for the next instance to abort."""
        producer, self.producer = self.producer, ""
        if producer:
            answer = await self.driver.call("close", producer, self.CLOSE_MS)
            self.errors += [answer.error.name] if answer.error else []

    async def move_some(self) -> None:
        polled = await self.driver.call("poll", self.consumer, _POLL_MS)
        records = taken(polled)["records"]
        if not records:
            await self.nothing_came()
            return
        self.came = trio.current_time()
        await self.ask("begin", self.producer)
        self.begun = True
        sent = []
        for index, record in enumerate(records):
            if index == len(records) // 2:
                await trio.sleep(PAUSE_MS / 1000)
            content = {"partition": record["partition"], "key": None, "value": record["value"]}
            sent.append(await self.driver.send("produce", self.producer, topic=OUTPUT, **content))
        positions = {each["partition"]: each["offset"] + 1 for each in records}
        self.read |= positions
        await self.written(sent)
        offsets = [[INPUT, *position] for position in positions.items()]
        await self.ask("send-offsets", self.producer, offsets=offsets, consumer=self.consumer)
        for each in sent:
            if each.answered and (error := (await each.wait()).error) and error.raised:
                raise RefusedError(error)
        self.begun = False
        await self.ask("commit-transaction", self.producer)

    async def nothing_came(self) -> None:
        """It polls again."""

    async def written(self, sent: Sequence[Pending]) -> None:
        """A commit fails for what could not be written."""

    async def overcome(self, error: Refusal) -> None:
        if error.fatal:
            await self.close()
        else:
            await self.abort()

    async def abort(self) -> None:
        try:
            if self.producer:
                await self.ask("abort-transaction", self.producer)
            await self.rewind()
        except RefusedError as raised:
            self.errors.append(raised.refusal.name)
            await self.close()

    async def committed(self) -> dict[int, int]:
        if not self.assigned:
            return {}
        answer = await self.ask("committed", self.consumer, partitions=self.assigned)
        return {partition: offset or 0 for _, partition, offset in answer["offsets"]}

    async def rewind(self) -> None:
        """Back to what is committed."""
        for partition, offset in (await self.committed()).items():
            await self.ask("seek", self.consumer, topic=INPUT, partition=partition, offset=offset)
            self.read[partition] = offset

    async def all_moved(self) -> bool:
        try:
            return sum((await self.committed()).values()) == RECORDS
        except RefusedError as raised:
            self.errors.append(raised.refusal.name)
            return False


class _Aiokafka(_Mover):
    """Its calls wait as long as the application does; after any error it opens another producer."""

    OPERATION_MS = None
    CLOSE_MS = 2000

    async def open(self) -> None:
        self.producer = self.opened  # one that could not be started has to be stopped, too
        await super().open()

    async def written(self, sent: Sequence[Pending]) -> None:
        """A commit does not fail for what could not be written: only these tell."""
        for each in sent:
            taken(await each.wait())

    async def overcome(self, error: Refusal) -> None:
        if self.begun:
            await self.driver.call("abort-transaction", self.producer)
        self.begun = False
        await self.close()


class _Librdkafka(_Mover):
    """It says of each error of a transaction what to do."""

    OPERATION_MS = 5000

    async def ask(self, verb: str, handle: str, **fields: Any) -> Mapping[str, Any]:
        while True:
            try:
                return await super().ask(verb, handle, **fields)
            except RefusedError as raised:
                error = raised.refusal
                if error.fatal or error.abortable or not error.retriable:
                    raise
                self.errors.append(error.name)

    async def nothing_came(self) -> None:
        """An OffsetFetch that was refused while partitions are assigned is never sent again."""
        if trio.current_time() > self.came + _IDLE_S:
            self.errors.append("idle")
            await self.leave()
            await self.join()

    async def overcome(self, error: Refusal) -> None:
        if error.abortable and not error.fatal:
            await self.abort()
        else:
            await self.close()

    async def rewind(self) -> None:
        while True:
            try:
                return await super().rewind()
            except RefusedError as raised:
                self.errors.append(raised.refusal.name)

    async def all_moved(self) -> bool:
        return sum(self.read.values()) >= RECORDS and await super().all_moved()
