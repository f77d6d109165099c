"""Applications with transactions: producers alone, and those that consume, transform and produce."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from ..drivers import Refusal
from .journal import Ended, Partition, Sent
from .members import Consuming
from .users import AFTER, Producing

_ATTEMPTS: Final = 3
_MEANWHILE: Final = frozenset({"end", "otherwise", "send", "close"})
"""What an application may do while a transaction ends: end it by another call, which is the same or the other
one; send; close its producer."""


class Transacting(Producing):
    """A transactional producer. After an error it does what the client's documentation says."""

    kind = "transactions"

    async def _ready(self) -> bool:
        return self.handle is not None or await self.made("open", self._open)

    async def _open(self) -> Refusal | None:
        return await self.open("producer", self.planned.config)

    async def _begin(self) -> Refusal | None:
        return (await self.call("begin")).error

    async def begun(self) -> bool:
        """Whether a transaction has begun."""
        if not await self._ready() or not await self.made("begin", self._begin):
            return False
        self.transaction = self.stage.transaction()
        return True

    async def transaction_of(
        self,
        sends: Sequence[Sequence[Any]],
        commits: bool,
        flushes: bool = False,
        before_end: Callable[[], Awaitable[None]] | None = None,
        awaits: bool = False,
        closes: bool = False,
        meanwhile: str = "",
        in_turn: bool = False,
    ) -> bool:
        """Whether it came to its end as it was meant. With `in_turn` each record is sent when it has heard of
        the one before; with `awaits` it hears of all its records before it is ended; with `closes` its
        producer is closed instead. `before_end` is awaited when all is flushed. `meanwhile` is what the
        application does while it begins or ends it."""
        if not await (self._begun_at_once() if meanwhile == "begin" else self.begun()):
            return False
        sent = list[Sent]()
        for topic, partition, what in sends:
            sent.append(await self.produce(topic, partition, what))
            if in_turn:
                await self.told_of(sent)
        if flushes or before_end is not None:
            await self.call("flush", self.call_ms)
        if closes:
            await self.close()
            self.transaction = None
            return False
        if before_end is not None:
            await before_end()
        if awaits and not await self.made("produce", partial(self._first_error, sent)):
            self.transaction = None
            return False
        if meanwhile in _MEANWHILE:
            return await self._end_meanwhile(commits, meanwhile, sends)
        return await self.end(commits)

    async def _begun_at_once(self) -> bool:
        """Begins by two calls at once. Only one of them can; if none could, it begins by another one."""
        if not await self._ready():
            return False
        first = await self.begin_call("begin", meanwhile=True, at_once=True)
        second = await self.call("begin", meanwhile=True)
        if (await first.wait()).ok is None and second.ok is None:
            return await self.begun()
        self.transaction = self.stage.transaction()
        return True

    async def _end_meanwhile(self, commits: bool, meanwhile: str, sends: Sequence[Sequence[Any]]) -> bool:
        """Ends the transaction, and does something else before the client has. An application for which
        no call succeeds ends it by another one."""
        transaction, handle = self.transaction, self.handle
        began = await self.begin_call(_verb(commits), self.call_ms, meanwhile=True, at_once=True)
        ends = [(commits, began)]
        if meanwhile == "close":
            await self.close()
        elif meanwhile == "send":
            topic, partition, _ = sends[0] if sends else (self.stage.plan.topics[0].name, 0, "")
            await self.produce(topic, partition, "plain", meanwhile=True)
        else:
            both = commits if meanwhile == "end" else not commits
            ends.append((both, await self.begin_call(_verb(both), self.call_ms, meanwhile=True)))
        done = False
        for how, each in ends:
            error = (await each.wait()).error
            done |= error is None
            assert transaction is not None
            self.note(Ended(transaction=transaction, commits=how, error=error), handle)
        if not done and meanwhile != "close":
            return await self.end(commits)
        self.transaction = None
        return done

    async def _first_error(self, sent: Sequence[Sent]) -> Refusal | None:
        """Of the records of a transaction."""
        await self.told_of(sent)
        errors = (each.told.error for each in sent if each.told is not None)
        return next((error for error in errors if error is not None), None)

    async def end(self, commits: bool, offsets: Mapping[Partition, int] | None = None) -> bool:
        """Whether it could."""
        done = await self.made(_verb(commits), partial(self._end, commits, offsets))
        self.transaction = None
        return done

    async def _end(self, commits: bool, offsets: Mapping[Partition, int] | None = None) -> Refusal | None:
        began = self.stage.journal.last
        error = (await self.call(_verb(commits), self.call_ms)).error
        if self.transaction is not None:
            ended = Ended(transaction=self.transaction, commits=commits, error=error, offsets=offsets or {})
            self.note(ended)
        if commits and offsets:
            self.consumed(offsets, began, error)
        return error

    def consumed(self, offsets: Mapping[Partition, int], began: int, error: Refusal | None) -> None:
        """Offsets were committed with the transaction, or not."""

    async def abort(self) -> None:
        await self.made("abort-transaction", partial(self._end, commits=False))

    async def afterwards(self) -> None:
        sends = [(t.name, p, AFTER) for t in self.stage.plan.topics for p in range(t.partitions)]
        for _ in range(_ATTEMPTS):
            if await self.transaction_of(sends, commits=True):
                return

    # Steps.

    async def transact(
        self,
        sends: Sequence[Sequence[Any]],
        commits: bool = True,
        flushes: bool = False,
        awaits: bool = False,
        closes: bool = False,
        meanwhile: str = "",
        in_turn: bool = False,
    ) -> None:
        await self.transaction_of(
            sends, commits, flushes, awaits=awaits, closes=closes, meanwhile=meanwhile, in_turn=in_turn
        )


def _verb(commits: bool) -> str:
    return "commit-transaction" if commits else "abort-transaction"


class Processing(Transacting):
    """Consumes, transforms, produces: what it reads is sent on, with its offsets, in one transaction."""

    kind = "processor"

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.member = Consuming(self.stage, self.planned, suffix="-in")

    async def round(
        self, commits: bool = True, then: str | None = None, apart: bool = False, in_turn: bool = False
    ) -> None:
        """One poll, and one transaction with what it returned. With `apart` the offsets of each partition are
        sent by a call of their own, all at once; with `in_turn` a record is sent when it has heard of the one
        before."""
        if not await self.member.join() or not await self._ready():
            return
        read = await self.member.read()
        if not read:
            return
        offsets = {partition: offset + 1 for partition, offset, _ in read}
        if not await self._processed(read, offsets, commits, apart, in_turn) or not commits:
            await self.member.rewind()

    async def _processed(
        self,
        read: Sequence[tuple[Partition, int, bytes | None]],
        offsets: Mapping[Partition, int],
        commits: bool,
        apart: bool,
        in_turn: bool,
    ) -> bool:
        if not await self.begun():
            return False
        to = self.planned.fields["to"]
        known = self.stage.plan.topic(to).partitions
        for (_, partition), _, value in read:
            # Its input may have got more partitions than its output has.
            sent = await self.produce(to, partition % known, "out", value=value)
            if in_turn:
                await self.told_of([sent])
        assert self.member.handle is not None
        listed = [[*partition, offset] for partition, offset in offsets.items()]
        for some in await self._sent_apart(listed) if apart and len(listed) > 1 else [listed]:
            if not await self.made("send-offsets", partial(self._send_offsets, some)):
                self.transaction = None
                return False
        return await self.end(commits, offsets)

    async def _sent_apart(self, offsets: Sequence[Sequence[Any]]) -> list[Sequence[Sequence[Any]]]:
        """Sends each by a call of its own, all at once. Those that failed are to be sent again."""
        given: dict[str, Any] = {"meanwhile": True, "consumer": self.member.handle, "at_once": True}
        begun = [await self.begin_call("send-offsets", self.call_ms, offsets=[e], **given) for e in offsets]
        answers = [await each.wait() for each in begun]
        return [[offset] for offset, told in zip(offsets, answers, strict=True) if told.ok is None]

    async def _send_offsets(self, offsets: Sequence[Sequence[Any]]) -> Refusal | None:
        answer = await self.call("send-offsets", self.call_ms, offsets=offsets, consumer=self.member.handle)
        return answer.error

    def consumed(self, offsets: Mapping[Partition, int], began: int, error: Refusal | None) -> None:
        self.member.noted(self.member.handle or "", offsets, began, error)

    async def afterwards(self) -> None:
        limit_s = self.stage.patience.settle_s
        await self.stage.while_not(self.member.has_read_all, limit_s, self.round)

    async def leave(self) -> None:
        await self.member.leave()
        await super().leave()
