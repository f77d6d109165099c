"""Members of share groups."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import trio

from ..drivers import Answer, Refusal
from ..drivers.lines import binary, refusal
from .journal import Acknowledged, Called, Delivered, Failed, Partition, Said, Settled
from .settling import unsettled
from .users import Application, described

POLL_MS: Final = 200
EXPLICIT: Final = "explicit"
ACCEPT: Final = "accept"
_AGAIN_S: Final = 0.1
_PAUSE_S: Final = 0.05
_MOST: Final = 4
"""So many times longer a group may take that gets on."""
_ROUNDS: Final = 10
"""So often a member works in vain before its group counts as stuck."""


class Sharing(Application):
    """A member of a share group: it polls, says of each record what its plan says, commits that now and then,
    and goes on after every error. What could not be acknowledged is delivered again."""

    kind = "share-member"

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.group: str = self.planned.fields["group"]
        self._topics: Sequence[str] = self.planned.fields["shares"]
        self._says: Sequence[str] = self.planned.fields.get("says", (ACCEPT,))
        self._open: dict[Partition, set[int]] = {}
        """What the next commit is about: what was said, and what became of it was not told by a callback."""
        self._renewed: set[tuple[Partition, int]] = set()

    @property
    def _explicit(self) -> bool:
        settings: Mapping[str, Any] = self.planned.fields.get("consumer", {})
        return settings.get("share.acknowledgement.mode") == EXPLICIT

    async def join(self) -> bool:
        if self.handle is not None:
            return True
        self._open, self._renewed = {}, set()
        config = {"group.id": self.group, **self.planned.fields.get("consumer", {})}
        if await self.open("share-consumer", config) is not None:
            return False
        answer = await self.call("subscribe", topics=list(self._topics))
        if answer.error is not None:
            await self.close()  # the next poll begins anew, with another consumer
        return answer.error is None

    # Steps.

    async def work(self, ends: str = "poll", thinks_ms: int = 0) -> None:
        """Polls, takes its time, says of each record what became of it, and commits that (`commit`,
        `commit-async`) or leaves it to the next poll (`poll`)."""
        found = await self.read()
        if thinks_ms:
            await trio.sleep(thinks_ms / 1000)
        await self.say(found)
        if ends == "commit":
            await self.commit()
        elif ends == "commit-async" and self.handle is not None:
            await self.call("commit-async")
            self._open = {}

    async def leave_group(self) -> None:
        await self.close()

    async def commit(self) -> None:
        if self.handle is not None:
            await self.made("commit", self._commit)

    async def afterwards(self) -> None:
        self._says = (ACCEPT,)
        limit_s, began = self.stage.patience.settle_s, trio.current_time()
        progress, since, rounds = self._progress(), began, 0
        # On a machine that is busy a single round may take longer than that.
        while not self._is_done() and (rounds < _ROUNDS or trio.current_time() < since + limit_s):
            if trio.current_time() > began + _MOST * limit_s:
                self.stage.outcome.getting_on.add(self.group)
                break
            await self.work("commit")
            await trio.sleep(_PAUSE_S if self.handle is None else 0)
            rounds += 1
            if self._progress() != progress:
                progress, since, rounds = self._progress(), trio.current_time(), 0
        await trio.sleep(_AGAIN_S)  # what others have just committed
        self.stage.outcome.unsettled[self.group] = self._left()

    def _is_done(self) -> bool:
        return not self.stage.at_work and not self._left()

    def _progress(self) -> int:
        """How many acknowledgements of the group brokers have carried out."""
        return sum(not each.error for each in self.stage.journal.of(Settled))

    def _left(self) -> list[str]:
        return unsettled(self.stage.cluster, self.group, self._topics)

    # Calls.

    async def read(self) -> list[Delivered]:
        """Polls once."""
        if not await self.join():
            return []
        assert self.handle is not None
        handle, found = self.handle, list[Delivered]()
        # It commits what was said until now.
        self._open = {}
        answer = await self.driver.call("poll", handle, POLL_MS, partial(self._note_polled, handle, found))
        if any(self.ends("poll", error) for error in _errors(answer)):
            await self.close()
            return []
        return found

    def _note_polled(self, handle: str, found: list[Delivered], answer: Answer) -> None:
        for each in (answer.ok or {}).get("records", ()):
            value, at = binary(each["value"]), (each["topic"], each["partition"])
            delivered = Delivered(
                topic=at[0], partition=at[1], offset=each["offset"], value=value, count=each["delivery_count"]
            )
            found.append(self.note(delivered, handle))
            if not self._explicit:
                self._open.setdefault(at, set()).add(each["offset"])
        for error in _errors(answer):
            self.note(Failed(error=error, by="poll"), handle)

    async def say(self, found: Sequence[Delivered]) -> None:
        """Says what became of records, if the client is to be told."""
        if self.handle is None or not self._explicit:
            return
        handle, begun = self.handle, []
        for each in found:
            what, at = self._what(each), (each.topic, each.partition)
            fields = {"topic": each.topic, "partition": each.partition, "offset": each.offset, "as": what}
            # Noted before it is said: some clients tell brokers at once.
            said = Said(topic=each.topic, partition=each.partition, offset=each.offset, what=what)
            self.note(said, handle)
            begun.append(
                await self.driver.send("acknowledge", handle, None, partial(_note_answer, said), **fields)
            )
            self._open.setdefault(at, set()).add(each.offset)
        for pending in begun:
            await pending.wait()

    def _what(self, delivered: Delivered) -> str:
        """What becomes of a record: released once, renewed once, then accepted."""
        what, at = self._says[delivered.offset % len(self._says)], (delivered.topic, delivered.partition)
        if what == "renew" and (at, delivered.offset) not in self._renewed:
            self._renewed.add((at, delivered.offset))
            return what
        return ACCEPT if what == "renew" or (what == "release" and delivered.count != 1) else what

    async def _commit(self) -> Refusal | None:
        assert self.handle is not None
        handle, journal = self.handle, self.stage.journal
        about = {at: tuple(sorted(offsets)) for at, offsets in self._open.items()}
        began, began_ms = journal.last, journal.clock()

        def note(answer: Answer) -> None:
            called = Called(verb="commit", began=began, error=answer.error)
            called.took_ms = journal.clock() - began_ms
            self.note(called, handle)
            for topic, partition, error in (answer.ok or {}).get("results", ()):
                told = None if error is None else refusal(error)
                self._note_told(handle, "commit", topic, partition, about.get((topic, partition), ()), told)

        answer = await self.driver.call("commit", handle, self.call_ms, note)
        if answer.error is None:
            self._open = {}
        return answer.error

    def _heard(self, event: str, line: Mapping[str, Any]) -> None:
        if event != "acknowledged":
            super()._heard(event, line)
            return
        error = refusal(line["error"]) if "error" in line else None
        by_partition: dict[Partition, list[int]] = defaultdict(list)
        for topic, partition, offsets in line["offsets"]:
            by_partition[topic, partition] += offsets
        for (topic, partition), offsets in by_partition.items():
            self._note_told(line["handle"], "callback", topic, partition, tuple(sorted(offsets)), error)
            if line["handle"] == self.handle:
                self._open.get((topic, partition), set()).difference_update(offsets)

    def _note_told(
        self,
        handle: str,
        by: str,
        topic: str,
        partition: int,
        offsets: tuple[int, ...],
        error: Refusal | None,
    ) -> None:
        told = Acknowledged(by=by, topic=topic, partition=partition, offsets=offsets, error=error)
        self.note(told, handle)


def _note_answer(said: Said, answer: Answer) -> None:
    said.error = answer.error


def _errors(answer: Answer) -> list[Refusal]:
    """Those of a poll: it raised one, or returned some."""
    return [answer.error] if answer.error else described((answer.ok or {}).get("errors", ()))
