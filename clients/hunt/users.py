"""What applications do with a client, written as the documentation of clients tells users to write them."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Final, Protocol

import trio

from ..drivers import Answer, Driver, Refusal
from ..drivers.lines import binary, refusal
from .journal import Called, E, Failed, Opened, Partition, Sent, Told
from .plan import PlannedUser
from .stage import Stage

FILLER: Final = b"." * 3_000
BAD: Final = b"!"
"""Values that begin with it can't be deserialized."""
_AGAIN_S: Final = 0.5
AFTER: Final = "after"
"""What records are called that are sent once all is well again."""


class User(Protocol):
    async def run(self) -> None:
        """Carries out its steps."""

    async def afterwards(self) -> None:
        """Goes on when all is well again, until it has done what can be expected of it."""

    async def leave(self) -> None:
        """Closes its clients."""


class Application:
    """One user and the handles that it opens, one after the other."""

    kind: ClassVar[str]

    def __init__(self, stage: Stage, planned: PlannedUser) -> None:
        self.stage, self.planned = stage, planned
        self.name = planned.name
        self._opened = 0
        self.handle: str | None = None

    @property
    def driver(self) -> Driver:
        return self.stage.driver

    @property
    def call_ms(self) -> int:
        """The timeout of calls that have one."""
        return self.stage.patience.call_ms

    async def run(self) -> None:
        for step in self.planned.steps:
            await trio.sleep(step.after_ms / 1000)
            await getattr(self, step.do.replace("-", "_"))(**step.fields)

    def note(self, entry: E, handle: str | None = None) -> E:
        """Adds what happened to the current handle, or to another one."""
        entry.user, entry.handle = self.name, handle or self.handle or ""
        return self.stage.journal.add(entry)

    async def call(self, verb: str, timeout_ms: int | None = None, **fields: Any) -> Answer:
        """Makes a call of the current handle, and notes it. DriverFailedError, OverdueError."""
        assert self.handle is not None
        began, handle = self.stage.journal.last, self.handle
        told = {name: value for name, value in fields.items() if name not in ("config", "kind")}

        def note(answer: Answer) -> None:
            self.note(Called(verb=verb, began=began, error=answer.error, fields=told), handle)

        return await self.driver.call(verb, handle, timeout_ms, note, **fields)

    async def open(self, kind: str, config: Mapping[str, Any], **fields: Any) -> bool:
        """Opens a handle. Whether the client could."""
        self._opened += 1
        self.handle = handle = f"{self.stage.id}-{self.name}-{self._opened}"
        whole = {**self.stage.servers, "client.id": self.name, **config}
        self.note(Opened(config=whole))
        self.driver.listen(handle, self._heard)
        if (await self.call("open", kind=kind, config=whole, **fields)).error is not None:
            self.driver.forget(handle)
            self.handle = None
        return self.handle is not None

    def _heard(self, event: str, line: Mapping[str, Any]) -> None:
        if event == "error":
            self.note(Failed(error=refusal(line["error"]), by="callback"), line["handle"])

    async def close(self) -> None:
        if self.handle is not None:
            await self.call("close", self.call_ms)
            self.driver.forget(self.handle)
            self.handle = None

    async def leave(self) -> None:
        await self.close()


class Producing(Application):
    """A producer of any kind."""

    transaction: int | None = None
    fatal = False

    async def produce(self, topic: str, partition: int, what: str, value: bytes | None = None) -> Sent:
        """Gives one record to the client; what becomes of it is noted when the client says so."""
        assert self.handle is not None
        number = self.stage.number()
        text = b"%d:%s:" % (number, what.encode()) if value is None else b"%d:%s" % (number, value)
        value = BAD + text if what == "bad" else text + FILLER if what == "large" else text
        key = None if what == "keyless" else b"k%d" % (number % 5)
        place: dict[str, Any] = {"topic": topic, "partition": partition}
        sent = self.note(Sent(number=number, **place, value=value, what=what, transaction=self.transaction))
        then = partial(self._told, sent)
        await self.driver.send("produce", self.handle, then=then, **place, key=key, value=value)
        return sent

    def _told(self, sent: Sent, answer: Answer) -> None:
        offset = None if answer.ok is None else answer.ok.get("offset")
        told = Told(number=sent.number, offset=offset, error=answer.error)
        sent.told = self.note(told, sent.handle)
        self.stage.changed()
        if answer.error is not None and answer.error.fatal:
            self.fatal = True

    async def told_of(self, sent: Sequence[Sent]) -> bool:
        """Waits until the client has said what became of them. Whether it has."""
        return await self.stage.until(
            lambda: all(each.told is not None for each in sent), self.stage.patience.told_s
        )


class Sending(Producing):
    """Sends, flushes, and goes on after every error; after a fatal one with a new producer."""

    kind = "producer"

    async def _ready(self) -> bool:
        if self.fatal:
            await self.close()
        if self.handle is None:
            self.fatal = False
            return await self.open("producer", self.planned.config)
        return True

    async def send(self, topic: str, partition: int, what: str = "plain", count: int = 1) -> None:
        if await self._ready():
            for _ in range(count):
                await self.produce(topic, partition, what)

    async def flush(self) -> None:
        if self.handle is not None:
            await self.call("flush", self.call_ms)

    async def afterwards(self) -> None:
        # A batch may still have a record that is refused, and with it all others of the batch.
        await self.flush()
        await self.told_of([each for each in self.stage.journal.of(Sent) if each.user == self.name])
        left = [(topic.name, p) for topic in self.stage.plan.topics for p in range(topic.partitions)]

        async def again() -> None:
            if await self._ready():
                sent = [await self.produce(topic, partition, AFTER) for topic, partition in left]
                await self.call("flush", self.call_ms)
                await self.told_of(sent)
                left[:] = [(e.topic, e.partition) for e in sent if e.told is None or e.told.error is not None]
            if left:
                await trio.sleep(_AGAIN_S)

        await self.stage.while_not(lambda: not left, self.stage.patience.settle_s, again)


def described(errors: Sequence[Mapping[str, Any]]) -> list[Refusal]:
    return [refusal(each) for each in errors]


def read_values(records: Sequence[Mapping[str, Any]]) -> list[tuple[Partition, int, bytes | None]]:
    return [((each["topic"], each["partition"]), each["offset"], binary(each["value"])) for each in records]


Made = Callable[[Stage, PlannedUser], User]
