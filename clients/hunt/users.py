"""What applications do with a client, written as the documentation of clients tells users to write them."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from random import Random
from typing import Any, ClassVar, Final, Protocol

import trio

from ..drivers import Answer, Driver, Pending, Refusal
from ..drivers.documentation import Act, documentation
from ..drivers.lines import binary, encoded, refusal
from .journal import Called, E, Failed, Headers, Heeded, Opened, Partition, Sent, Told
from .plan import AFTER_ERRORS, PlannedUser, Step
from .stage import Stage

_LARGE: Final = 3_000
"""The size of a record that is too large for some topics, however it is compressed."""
BAD: Final = b"!"
"""Values that begin with it can't be deserialized."""
_AGAIN_S: Final = 0.5
_RETRIES: Final = 3
"""How often a step makes a call again."""
_PAUSE_S: Final = 0.1
_NUMBERED: Final = "k"
"""The key of a record of which a plan does not say the key: with a number of 0 to 4."""
AT_ONCE: Final = "at_once"
"""The field of a request for which the requests after it don't wait."""
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
        self._opened = self._retries = 0
        self._wanted: Sequence[Act] = ()
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
            await self.do(step)
        self._wanted = ()

    async def do(self, step: Step) -> None:
        fields = dict(step.fields)
        self._wanted, self._retries = fields.pop(AFTER_ERRORS, ()), 0
        await getattr(self, step.do.replace("-", "_"))(**fields)

    def heed(self, verb: str, error: Refusal) -> Act:
        """What to do after the error of a call, or about a record (`produce`): of what the client's
        documentation allows, what the step prefers."""
        rule = documentation(self.driver.hello.client).after(verb, error)
        possible = [each for each in rule.then if each is not Act.RETRY or self._retries < _RETRIES]
        act = Act(next((each for each in self._wanted if each in possible), (possible or [Act.CLOSE])[0]))
        self._retries += act is Act.RETRY
        self.note(Heeded(verb=verb, error=error, act=act, says=rule.says))
        return act

    def ends(self, verb: str, error: Refusal) -> bool:
        """Whether the documentation leaves nothing but to close the client."""
        rule = documentation(self.driver.hello.client).after(verb, error)
        if list(rule.then) != [Act.CLOSE]:
            return False
        self.note(Heeded(verb=verb, error=error, act=Act.CLOSE, says=rule.says))
        return True

    async def made(self, verb: str, make: Callable[[], Awaitable[Refusal | None]]) -> bool:
        """Makes a call, and does after an error what is to be done. Whether it succeeded in the end; an
        application that goes on after an error about a record still ends its transaction."""
        while (error := await make()) is not None:
            act = self.heed(verb, error)
            if act is Act.RETRY:
                await trio.sleep(_PAUSE_S)
                continue
            if act is Act.CLOSE:
                await self.close()
            elif act is Act.ABORT:
                await self.abort()
            return act is Act.GO_ON and verb == "produce"
        return True

    async def abort(self) -> None:
        """What the act is for a transactional producer."""

    def note(self, entry: E, handle: str | None = None) -> E:
        """Adds what happened to the current handle, or to another one."""
        entry.user, entry.handle = self.name, handle or self.handle or ""
        return self.stage.journal.add(entry)

    async def call(self, verb: str, timeout_ms: int | None = None, **fields: Any) -> Answer:
        """Makes a call of the current handle, and notes it. DriverFailedError, OverdueError."""
        return await (await self.begin_call(verb, timeout_ms, **fields)).wait()

    async def begin_call(
        self, verb: str, timeout_ms: int | None = None, *, meanwhile: bool = False, **fields: Any
    ) -> Pending:
        """Begins a call of the current handle, which is noted when it has returned. DriverFailedError."""
        assert self.handle is not None
        journal, handle = self.stage.journal, self.handle
        began, began_ms = journal.last, journal.clock()
        told = {name: value for name, value in fields.items() if name not in ("config", "kind", AT_ONCE)}

        def note(answer: Answer) -> None:
            called = Called(verb=verb, began=began, error=answer.error, fields=told, meanwhile=meanwhile)
            called.took_ms, called.answer = journal.clock() - began_ms, answer.ok or {}
            called.left = called.answer.get("left", 0)
            self.note(called, handle)

        return await self.driver.send(verb, handle, timeout_ms, note, **fields)

    async def open(self, kind: str, config: Mapping[str, Any], **fields: Any) -> Refusal | None:
        """Opens a handle. The error if the client could not."""
        self._opened += 1
        self.handle = handle = f"{self.stage.id}-{self.name}-{self._opened}"
        whole = {**self.stage.servers, "client.id": self.name, **config}
        self.note(Opened(config=self.driver.hello.taken(kind, whole)))
        self.driver.listen(handle, self._heard)
        error = (await self.call("open", kind=kind, config=whole, **fields)).error
        if error is not None:
            self.driver.forget(handle)
            self.handle = None
        return error

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


def contents(
    number: int,
    what: str,
    value: bytes | None = None,
    size: int = 0,
    key: str | None = _NUMBERED,
    headers: Sequence[tuple[str, str | None]] = (),
) -> tuple[bytes | None, bytes | None, Headers]:
    """Key, value and headers of a record. Its value goes on with a `value`, and with noise up to `size`
    bytes. In plans each character of a key, and of a header's value, is a byte."""
    text = b"%d:%s:" % (number, what.encode()) if value is None else b"%d:%s" % (number, value)
    text += Random(number).randbytes(max(0, (_LARGE if what == "large" else size) - len(text)))
    told = tuple((name, None if each is None else _bytes(each)) for name, each in headers)
    if what == "null":
        return text, None, told
    text = BAD + text if what == "bad" else text
    if key == _NUMBERED:
        return None if what == "keyless" else b"k%d" % (number % 5), text, told
    return None if key is None else _bytes(key), text, told


def _bytes(text: str) -> bytes:
    return text.encode("latin-1")


class Producing(Application):
    """A producer of any kind."""

    transaction: int | None = None

    async def produce(
        self,
        topic: str,
        partition: int | None,
        what: str,
        value: bytes | None = None,
        *,
        meanwhile: bool = False,
        peculiar: Mapping[str, Any] | None = None,
    ) -> Sent:
        """Gives one record to the client; what becomes of it is noted when the client says so. Without a
        partition the client chooses one. `peculiar` are fields of `contents`."""
        assert self.handle is not None
        number = self.stage.number()
        key, content, headers = contents(number, what, value, **(peculiar or {}))
        sent = Sent(number=number, topic=topic, partition=-1, value=content, what=what, meanwhile=meanwhile)
        sent.key, sent.headers = key, headers
        sent.partition, sent.transaction = -1 if partition is None else partition, self.transaction
        then = partial(self._told, self.note(sent))
        fields: dict[str, Any] = {"topic": topic, "partition": partition, "key": key, "value": content}
        if headers:
            fields["headers"] = [[name, encoded(each)] for name, each in headers]
        await self.driver.send("produce", self.handle, then=then, **fields)
        return sent

    def _told(self, sent: Sent, answer: Answer) -> None:
        offset = None if answer.ok is None else answer.ok.get("offset")
        told = Told(number=sent.number, offset=offset, error=answer.error)
        self.note(told, sent.handle)
        if sent.partition < 0 and answer.ok is not None:
            found = answer.ok.get("partition")
            sent.partition = -1 if found is None else found
        if sent.told is None:
            sent.told = told
        self.stage.changed()

    async def told_of(self, sent: Sequence[Sent]) -> bool:
        """Waits until the client has said what became of them. Whether it has."""
        return await self.stage.until(
            lambda: all(each.told is not None for each in sent), self.stage.patience.told_s
        )


class Sending(Producing):
    """Sends, flushes, and goes on after errors; with a new producer if the documentation says that this one
    is at its end."""

    kind = "producer"
    _ended = False

    def _told(self, sent: Sent, answer: Answer) -> None:
        super()._told(sent, answer)
        if answer.error is not None and not self._ended and sent.handle == self.handle:
            self._ended = self.ends("produce", answer.error)

    async def _ready(self) -> bool:
        if self._ended:
            await self.close()
        self._ended = False
        return self.handle is not None or await self.made("open", self._open)

    async def _open(self) -> Refusal | None:
        return await self.open("producer", self.planned.config)

    async def send(
        self, topic: str, partition: int | None, what: str = "plain", count: int = 1, **peculiar: Any
    ) -> None:
        if await self._ready():
            for _ in range(count):
                await self.produce(topic, partition, what, peculiar=peculiar)

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


def read_headers(record: Mapping[str, Any]) -> Headers:
    return tuple((name, binary(value)) for name, value in record.get("headers", ()))


def read_values(records: Sequence[Mapping[str, Any]]) -> list[tuple[Partition, int, bytes | None]]:
    return [((each["topic"], each["partition"]), each["offset"], binary(each["value"])) for each in records]


Made = Callable[[Stage, PlannedUser], User]
