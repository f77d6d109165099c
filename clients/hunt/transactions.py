"""Applications with transactions: producers alone, and those that consume, transform and produce."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from ..drivers import Refusal
from .journal import Ended, Partition
from .members import Consuming
from .users import AFTER, Producing

_ATTEMPTS: Final = 3


class Transacting(Producing):
    """A transactional producer. What fails is aborted; if that fails too, there is a new producer."""

    kind = "transactions"

    async def _ready(self) -> bool:
        if self.handle is None:
            return await self.open("producer", self.planned.config)
        return True

    async def transaction_of(
        self,
        sends: Sequence[Sequence[Any]],
        commits: bool,
        flushes: bool = False,
        before_end: Callable[[], Awaitable[None]] | None = None,
    ) -> bool:
        """Whether it came to its end as it was meant to. `before_end` is awaited when all is flushed."""
        if not await self._ready():
            return False
        if (await self.call("begin")).error is not None:
            await self.recover()
            return False
        self.transaction = self.stage.transaction()
        for topic, partition, what in sends:
            await self.produce(topic, partition, what)
        if flushes or before_end is not None:
            await self.call("flush", self.call_ms)
        if before_end is not None:
            await before_end()
        return await self.end(commits)

    async def end(self, commits: bool, offsets: Mapping[Partition, int] | None = None) -> bool:
        """Whether it could."""
        verb = "commit-transaction" if commits else "abort-transaction"
        began = self.stage.journal.last
        error = (await self.call(verb, self.call_ms)).error
        self.ended(commits, error, offsets)
        if commits and offsets:
            self.consumed(offsets, began, error)
        if error is not None:
            await self.recover(aborts=commits)
        self.transaction = None
        return error is None

    def consumed(self, offsets: Mapping[Partition, int], began: int, error: Refusal | None) -> None:
        """Offsets were committed with the transaction, or not."""

    def ended(self, commits: bool, error: Refusal | None, offsets: Mapping[Partition, int] | None) -> None:
        assert self.transaction is not None
        assert self.handle is not None
        self.note(Ended(transaction=self.transaction, commits=commits, error=error, offsets=offsets or {}))

    async def recover(self, aborts: bool = True) -> None:
        """Aborts, or begins with a new producer of the same transactional id."""
        if aborts:
            error = (await self.call("abort-transaction", self.call_ms)).error
            if self.transaction is not None:
                self.ended(False, error, None)
            if error is None:
                return
        await self.close()

    async def afterwards(self) -> None:
        sends = [(t.name, p, AFTER) for t in self.stage.plan.topics for p in range(t.partitions)]
        for _ in range(_ATTEMPTS):
            if await self.transaction_of(sends, commits=True):
                return

    # Steps.

    async def transact(
        self, sends: Sequence[Sequence[Any]], commits: bool = True, flushes: bool = False
    ) -> None:
        await self.transaction_of(sends, commits, flushes)


class Processing(Transacting):
    """Consumes, transforms, produces: what it reads is sent on, with its offsets, in one transaction."""

    kind = "processor"

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.member = Consuming(self.stage, self.planned, suffix="-in")

    async def round(self, commits: bool = True, then: str | None = None) -> None:
        """One poll, and one transaction with what it returned."""
        fields = self.planned.fields
        if not await self.member.join() or not await self._ready():
            return
        read = await self.member.read()
        if not read:
            return
        offsets = {partition: offset + 1 for partition, offset, _ in read}
        if (await self.call("begin")).error is not None:
            await self._again()
            return
        self.transaction = self.stage.transaction()
        for (_, partition), _, value in read:
            await self.produce(fields["to"], partition, "out", value=value)
        assert self.member.handle is not None
        listed = [[*partition, offset] for partition, offset in offsets.items()]
        error = (
            await self.call("send-offsets", self.call_ms, offsets=listed, consumer=self.member.handle)
        ).error
        if error is not None:
            self.ended(False, error, None)
            await self.recover()
            self.transaction = None
            await self.member.rewind()
        elif not await self.end(commits, offsets) or not commits:
            await self.member.rewind()

    def consumed(self, offsets: Mapping[Partition, int], began: int, error: Refusal | None) -> None:
        self.member.noted(self.member.handle or "", offsets, began, error)

    async def _again(self) -> None:
        await self.recover()
        await self.member.rewind()

    async def afterwards(self) -> None:
        group = self.member.group
        limit = self.stage.patience.settle_s
        await self.stage.while_not(
            lambda: self.stage.read_all(group, [self.planned.fields["from"]]), limit, self.round
        )

    async def leave(self) -> None:
        await self.member.leave()
        await super().leave()
