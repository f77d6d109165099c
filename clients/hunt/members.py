"""Members of groups, and consumers that choose their partitions themselves."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import trio

from ..drivers import Answer, Pending, Refusal
from ..drivers.lines import binary
from .journal import Committed, Failed, Owns, Partition, Read, Sought
from .plan import LOOKS_MS, RACK, rack
from .users import AT_ONCE, BAD, Application, described, read_headers, read_values

POLL_MS: Final = 200
_ENDS: Final = ("beginning", "end")
"""Where a client can go without an offset."""


class Consuming(Application):
    """A consumer, which polls, commits what it has read, and goes on after every error."""

    kind = "member"

    def __init__(self, *given: Any, suffix: str = "") -> None:
        super().__init__(*given)
        self.name += suffix
        self.group: str = self.planned.fields.get("group", "")
        self._topics: Sequence[str] = self.planned.fields["topics"]
        self._subscribed = self._topics
        self._next: dict[Partition, int] = {}
        self._owned: set[Partition] = set()
        self._paused: set[Partition] = set()
        self._paused_before: set[Partition] = set()
        """What it lost while it was paused: clients differ in whether it still is when it comes back."""
        self._sought: dict[Partition, str] = {}
        """Where it has gone by itself, and has read nothing since: whether its client has taken its position
        there depends on the client."""
        self._yielded = False
        """Whether it was put out, for good: another application has its `group.instance.id`."""

    async def join(self) -> bool:
        if self.handle is not None or self._yielded:
            return self.handle is not None
        fields = self.planned.fields
        config = {"enable.auto.commit": False, "auto.offset.reset": "earliest", **fields.get("consumer", {})}
        if self.group:
            config["group.id"] = self.group
        if "brokers" in fields:
            config["bootstrap.servers"] = self.stage.servers_of(fields["brokers"])
        extra = {"fails_on": BAD.decode()} if fields.get("fails") else {}
        self._next.clear()
        self._sought.clear()
        self._owned, self._paused, self._paused_before = set(), set(), set()
        self._subscribed = self._topics
        if await self.open("consumer", config, **extra) is not None:
            return False
        if self.group:
            topics = [fields["pattern"]] if "pattern" in fields else list(self._topics)
            answer = await self.call("subscribe", topics=topics)
        else:
            assigned = [each for each in self.stage.plan.topics if each.name in self._topics]
            partitions = [[topic.name, p] for topic in assigned for p in range(topic.partitions)]
            assert self.handle is not None
            self._own(self.handle, gains=True, partitions=partitions)
            answer = await self.call("assign", partitions=partitions)
        if answer.error is not None:
            await self.close()  # the next poll begins anew, with another consumer
        return answer.error is None

    def _heard(self, event: str, line: Mapping[str, Any]) -> None:
        if event in ("assigned", "revoked", "lost"):
            self._own(line["handle"], event == "assigned", line["partitions"])
        else:
            super()._heard(event, line)

    def _own(self, handle: str, gains: bool, partitions: Sequence[Sequence[Any]]) -> None:
        listed = tuple((topic, partition) for topic, partition in partitions)
        self._owned = self._owned | {*listed} if gains else self._owned - {*listed}
        self._paused_before |= self._paused & {*listed}
        self._paused -= {*listed}
        for each in listed:
            self._next.pop(each, None)
            self._sought.pop(each, None)
        self.note(Owns(gains=gains, partitions=listed), handle)

    async def read(self) -> list[tuple[Partition, int, bytes | None]]:
        """Polls once, and notes what it returned."""
        assert self.handle is not None
        handle = self.handle
        answer = await self.driver.call("poll", handle, POLL_MS, lambda told: self._note_read(handle, told))
        if any(error.deserializer for error in _errors(answer)):
            await self._step_over()
        if any(self.ends("poll", error) for error in _errors(answer)):
            await self.close()
            self._yielded = self._shares_instance
        return read_values((answer.ok or {}).get("records", ()))

    def _note_read(self, handle: str, answer: Answer) -> None:
        # A client may lose a partition right after the poll: what was read comes before that.
        for record in (answer.ok or {}).get("records", ()):
            (((topic, partition), offset, value),) = read_values([record])
            read = Read(topic=topic, partition=partition, offset=offset, value=value)
            read.key = binary(record["key"])
            read.headers = read_headers(record) if self._tells_headers else None
            self.note(read, handle)
            self._next[topic, partition] = offset + 1
            self._sought.pop((topic, partition), None)
            self.stage.was_read(self.group or self.name, (topic, partition), value)
        for error in _errors(answer):
            self.note(Failed(error=error, by="poll"), handle)

    async def _step_over(self) -> None:
        """Seeks to the record behind one that can't be deserialized, if it is still before it."""
        for topic, partition in sorted(self._owned):
            if self.handle is None:
                return
            answer = await self.call("position", self.call_ms, partitions=[[topic, partition]])
            (at,) = [each[2] for each in (answer.ok or {}).get("offsets", ())] or [None]
            if at is not None and any(e.startswith(BAD) for e in self.stage.values_at(topic, partition, at)):
                await self.seek(topic, partition, at + 1)

    async def seek(self, topic: str, partition: int, offset: int, to: str = "") -> None:
        assert self.handle is not None
        self.note(Sought(topic=topic, partition=partition, offset=offset, to=to))
        where: dict[str, Any] = {"to": to} if to in _ENDS else {"offset": offset}
        if (await self.call("seek", topic=topic, partition=partition, **where)).error is not None:
            await self.close()  # a new member begins at the committed offsets

    async def rewind(self) -> None:
        """Goes back to the committed offsets, as an application does whose transaction was aborted."""
        if self.handle is None:
            return
        partitions = [[topic, partition] for topic, partition in self._next]
        if not partitions:
            return
        answer = await self.call("committed", self.call_ms, partitions=partitions)
        if answer.ok is None:
            await self.close()
            return
        for topic, partition, offset in answer.ok["offsets"]:
            if self.handle is not None:
                await self.seek(topic, partition, 0 if offset is None else offset)
        self._next.clear()

    @property
    def _tells_headers(self) -> bool:
        return "headers" in self.driver.hello.capabilities

    @property
    def _shares_instance(self) -> bool:
        settings = [each.fields.get("consumer", {}) for each in self.stage.plan.users]
        mine = self.planned.fields.get("consumer", {}).get("group.instance.id")
        return mine is not None and sum(each.get("group.instance.id") == mine for each in settings) > 1

    # Steps.

    async def pause(self) -> None:
        """Pauses one of its partitions."""
        if self.handle is not None and (owned := sorted(self._owned - self._paused)):
            self._paused.add(owned[0])
            if (await self.call("pause", partitions=[list(owned[0])])).error is not None:
                self._paused.discard(owned[0])

    async def resume(self, *, every: bool = False) -> None:
        """Resumes all that it has paused, or `every` partition that it has: the others go on."""
        await self._resume(self._paused | self._owned if every else self._paused)
        if every:
            self._paused -= self._owned

    async def _resume(self, which: set[Partition]) -> None:
        owned = sorted(which & self._owned)
        if self.handle is not None and owned:
            answer = await self.call("resume", partitions=[[*each] for each in owned])
            if answer.error is None:
                which -= {*owned}

    async def go(self, to: str, by: int = 0) -> None:
        """Goes elsewhere in one of the partitions that it reads: to its `beginning` or `end`, or `by` so many
        records, to that `offset` or to the `timestamp` of the record there; and polls."""
        at = next((each for each in sorted(self._owned) if each in self._next), None)
        if self.handle is None or at is None:
            return
        offset: int | None = 0 if to == "beginning" else max(0, self._next[at] + by)
        if to == "timestamp":
            offset = await self._offset_by_time(at, self._next[at] + by)
        if offset is None or self.handle is None or at not in self._next:
            return  # it has lost the partition meanwhile
        self._sought[at] = to
        await self.seek(*at, offset, to)
        self._next.pop(at, None)
        if to not in _ENDS and at in self._sought:
            self._next[at] = offset
        await self.poll()

    async def _offset_by_time(self, at: Partition, offset: int) -> int | None:
        """Where the client says the records begin that are not older than the one at an offset."""
        time_ms = self.stage.time_of(at, max(0, offset))
        if time_ms is None:
            return None
        answer = await self.call("offsets-for-times", self.call_ms, partitions=[[*at, time_ms]])
        found = (answer.ok or {}).get("offsets") or [[*at, None]]
        return None if found[0][2] is None else int(found[0][2])

    async def poll(self, times: int = 1) -> None:
        for _ in range(times):
            if await self.join():
                await self._resume(self._paused_before)
                await self.read()

    async def commit(self, meanwhile: str = "") -> None:
        """`meanwhile` is what it does while it commits: commits the same (`commit`), or closes (`close`);
        or it commits the offset of each partition by a call of its own (`apart`)."""
        auto = self.planned.fields.get("consumer", {}).get("enable.auto.commit")
        if self.handle is None or not self._next or not self.group or auto:
            return
        if not meanwhile or not await self._commit_meanwhile(meanwhile):
            await self.made("commit", self._commit)

    async def _commit_meanwhile(self, meanwhile: str) -> bool:
        """Whether there is nothing more to commit."""
        offsets = dict(self._next)
        if meanwhile == "apart":
            parts = [{partition: offset} for partition, offset in offsets.items()]
        else:
            parts = [offsets] if meanwhile == "close" else [offsets, offsets]
        by_position = meanwhile != "apart"
        begun = [await self._begin_commit(each, by_position=by_position, meanwhile=True) for each in parts]
        if meanwhile == "close":
            await self.close()
        done = [(await each.wait()).ok is not None for each in begun]
        return (all if meanwhile == "apart" else any)(done) or self.handle is None

    async def _commit(self) -> Refusal | None:
        return (await (await self._begin_commit(dict(self._next), by_position=True)).wait()).error

    async def _begin_commit(
        self, offsets: Mapping[Partition, int], *, by_position: bool, meanwhile: bool = False
    ) -> Pending:
        """`by_position`: whether that would be what the client commits without offsets."""
        assert self.handle is not None
        handle, journal = self.handle, self.stage.journal
        began, began_ms = journal.last, journal.clock()
        by_position = by_position and self.planned.fields.get("commits") == "position" and not self._sought
        given: dict[str, Any] = {AT_ONCE: True} if meanwhile else {}
        if not by_position:
            given["offsets"] = [[*at, offset] for at, offset in offsets.items()]

        def note(answer: Answer) -> None:
            took_ms = journal.clock() - began_ms
            tried = self.noted(handle, offsets, began, answer.error, took_ms)
            tried.meanwhile, tried.by_position = meanwhile, by_position

        return await self.driver.send("commit", handle, self.call_ms, note, **given)

    def noted(
        self,
        handle: str,
        offsets: Mapping[Partition, int],
        began: int,
        error: Refusal | None,
        took_ms: int = 0,
    ) -> Committed:
        tried = Committed(group=self.group, offsets=offsets, began=began, error=error, took_ms=took_ms)
        return self.note(tried, handle)

    async def resubscribe(self, topics: Sequence[str]) -> None:
        """Subscribes to other topics of its own."""
        if self.handle is None:
            return
        self._subscribed = topics
        if (await self.call("subscribe", topics=list(topics))).error is not None:
            await self.close()

    async def think(self, ms: int) -> None:
        """Does not poll for so long, while it is a member."""
        if self.handle is not None:
            await trio.sleep(ms / 1000)

    async def leave_group(self) -> None:
        await self.close()

    async def afterwards(self) -> None:
        limit_s = self.stage.patience.settle_s
        if "end" in self._sought.values():
            await self.close()  # it may not have found the end before there were more records
        if self._yielded:  # unless the other is put out, too
            await self.stage.until(self.has_read_all, limit_s / 2)
            self._yielded = False
        await self.resume()
        if self._subscribed != self._topics:
            await self.resubscribe(self._topics)
        await self.stage.while_not(self.has_read_all, limit_s, self.poll)
        await self.stage.while_not(lambda: not self._far(), limit_s, self.poll)
        if far := self._far():
            self.stage.outcome.far[self.name] = far
        await self.commit()

    def has_read_all(self) -> bool:
        finds = self.group and LOOKS_MS in self._taken
        found = (*self._topics, *self.stage.outcome.appeared) if finds else ()
        if "pattern" not in self.planned.fields:
            found = tuple(each for each in found if each in self._topics)
        return self.stage.read_all(self.group or self.name, self._topics, found)

    def _far(self) -> list[Partition]:
        """What it has that is in sync at the broker in its rack, if its client does not ask that broker."""
        racks = {rack(each): each for each in range(1, self.stage.plan.brokers + 1)}
        near = racks.get(self._taken.get(RACK, ""))
        if near is None or near in self.stage.outcome.asked.get(self.name, ()):
            return []
        topics = self.stage.cluster.topics()
        listed = {(name, each.partition): each.isr for name, of in topics.items() for each in of.partitions}
        return sorted(each for each in self._owned if near in listed.get(each, ()))

    @property
    def _taken(self) -> Mapping[str, Any]:
        """What its client takes of the plan's settings."""
        return self.driver.hello.taken("consumer", self.planned.fields.get("consumer", {}))


def _errors(answer: Answer) -> list[Refusal]:
    """Those of a poll: it raised one, or returned some."""
    return [answer.error] if answer.error else described((answer.ok or {}).get("errors", ()))
