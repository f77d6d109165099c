"""A Fetch that waits until there is enough to read."""

from collections.abc import Callable, Generator
from typing import Any, TypeVar

from ..cluster.call import Call
from ..cluster.fetch_session import Key
from ..cluster.fetch_sessions import FetchContext
from ..outcome import PARKED, Steps
from ..portions import portions
from ..replication.partition import Partition
from ..replication.waiters import Waiters
from .fetch_alone import read_alone
from .fetched_partitions import Read, read, read_in_parts

T = TypeVar("T")
Place = tuple[Partition, int, int]
"""A partition, and the base offsets of a batch and of its segment."""


class Waiting:
    """A Fetch that waits until there are enough bytes or its time is over; then `answer` is called with what
    was read."""

    __slots__ = ("answer", "call", "context", "follower", "keys", "missing", "partitions", "places", "timer")

    def __init__(self, call: Call, context: FetchContext, found: Read, answer: Callable[[Read], Any]) -> None:
        self.call = call
        self.context = context
        self.answer = answer
        self.missing = context.request.min_bytes - found.size
        # What is to be read from another replica is not waited for here.
        self.keys = [key for key, result in found.results if result.preferred_read_replica < 0]
        self.partitions: list[Partition] = []
        self.places: dict[Key, Place] = {}
        """Where each partition was read when the request began to wait."""
        self.follower = context.request.replica_state.replica_id >= 0
        self.follow(found)

    def follow(self, found: Read) -> None:
        """Remembers where in the log the partitions are read."""
        asked = self.context.partitions()
        for key in self.keys:
            partition = found.partitions.get(key)
            if partition is not None:
                self.partitions.append(partition)
                self.places[key] = place(partition, asked[key].fetch_offset)
        self.context.awaited = self.places

    def begin(self) -> None:
        """Starts waiting."""
        self._set_timer()
        for partition in self.partitions:
            self._waiting_at(partition).add(self.arrived)

    def _set_timer(self) -> None:
        self.timer = self.call.environment.wait(self.context.request.max_wait_ms, self.time_is_over)
        self.call.cluster.notes.fetch_waits(self.call.client_id, self.context)

    def falls_behind(self) -> bool:
        """Whether what can be read ends in a later segment than it began in: nothing more will come there."""
        for partition, base, segment in self.places.values():
            log = partition.log
            if len(log.segments.all) == 1:
                continue
            end = log.high_watermark
            if self.follower:
                end = log.end_offset
            elif self.context.request.isolation_level:
                end = log.last_stable_offset
            if base < end and segment < log.segment_of(end):
                return True
        return False

    def _waiting_at(self, partition: Partition) -> Waiters[Callable[[int], None]]:
        return partition.waiting_followers if self.follower else partition.waiting

    def arrived(self, size: int) -> None:
        """`size` more bytes can be read; 0 if something else about a partition changed.

        It continues to wait unless there is now an error, a divergence, another segment or enough to read
        (`DelayedFetch.tryComplete`). Whether a read_committed consumer can read the bytes is not regarded.
        """
        environment = self.call.environment
        before, environment.at_work = environment.at_work, self.call
        try:
            if size and not self.context.request.isolation_level:
                self.missing -= size
                if self.missing <= 0:
                    self.complete()
            else:
                self.look()
        except Exception as error:  # it is told by another's request, which goes on
            self._forget()
            environment.fail(error, self.call)
        finally:
            environment.at_work = before

    def look(self) -> None:
        """Reads again, to see whether it still has to wait."""
        found = read(self.call, self.context, again=True)
        if self._is_over(found):
            self.complete(found)

    def _is_over(self, found: Read) -> bool:
        done = found.at_once or self._gone(found) or self.falls_behind()
        self.missing = 0 if done else self.context.request.min_bytes - found.size
        return self.missing <= 0

    def _gone(self, found: Read) -> bool:
        """Whether a partition was deleted, or the broker learned of another leader."""
        return [found.partitions[key] for key in self.keys if key in found.partitions] != self.partitions

    def _forget(self) -> None:
        self.timer.cancel()
        for partition in self.partitions:
            self._waiting_at(partition).discard(self.arrived)

    def time_is_over(self) -> None:
        """Answers with what there is."""
        self.complete()

    def complete(self, found: Read | None = None) -> None:
        """Answers with what was found just now; otherwise it is read now."""
        self._forget()
        there = found is None and self.missing <= 0
        if there and (answered := read_alone(self.call, self.context.request)) is not None:
            self.call.answer(answered)
        else:
            self.answer(found or read(self.call, self.context, again=True))


class LongReading:
    """Reads what a request of many partitions asks for, in parts; again and again while it waits."""

    def __init__(self, call: Call, context: FetchContext) -> None:
        self.call, self.context = call, context

    def read(self, again: bool = False) -> Generator[None, None, Read]:
        """What can be read now."""
        return read_in_parts(self.call, self.context, again)

    def waiting(self, found: Read, answer: Callable[[Read], Any]) -> "LongWaiting":
        """Waits until there is more than what was found."""
        return LongWaiting(self, found, answer)

    def end(self, answering: Generator[None, None, T]) -> Generator[None, None, T]:
        """Answers."""
        return answering


class LongWaiting(Waiting):
    """As `Waiting`, for a Fetch of many partitions, which are looked at in parts."""

    __slots__ = ("_again", "_enough", "_looks", "_over", "_reading")

    def __init__(self, reading: LongReading, found: Read, answer: Callable[[Read], Any]) -> None:
        super().__init__(reading.call, reading.context, found, answer)
        self._reading = reading
        self._again = self._enough = self._looks = self._over = False

    def follow(self, found: Read) -> None:
        """That is done when it begins."""

    def begin_in_parts(self, found: Read) -> Generator[None, None, None]:
        """Starts waiting. What comes while that is done is looked for at the end."""
        self._looks = True
        asked = self.context.partitions()
        self._set_timer()
        for few in portions(self.keys):
            for key in few:
                partition = found.partitions.get(key)
                if partition is not None:
                    self.partitions.append(partition)
                    self.places[key] = place(partition, asked[key].fetch_offset)
                    self._waiting_at(partition).add(self.arrived)
            yield
        self.context.awaited = self.places
        self._looks = False
        self.look()

    def look(self) -> None:
        if self._looks:
            self._again = True
        else:
            self._looks = True
            self.call.cluster.work.begin(self.call, self._steps())

    def time_is_over(self) -> None:
        self._over = True
        self.look()

    def complete(self, found: Read | None = None) -> None:
        self._enough = True
        self.look()

    def _steps(self) -> Steps:
        try:
            return (yield from self._looking())
        except Exception:
            self._forget()
            raise

    def _looking(self) -> Steps:
        while True:
            self._again, enough = False, self._enough
            found = yield from self._reading.read(again=True)
            if self._over or enough or self._is_over(found):
                yield
                self._forget()
                yield from self.answer(found)
                return PARKED
            if not self._again:
                self._looks = False
                return PARKED


def place(partition: Partition, offset: int) -> Place:
    """Where `offset` is."""
    log = partition.log
    base = log.batch_base(offset)
    return partition, base, log.segment_of(base)
