"""What a scenario is told with: the cluster, applications, and waits for conditions."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Final

import trio

from mockbroker.errors import MockBrokerError
from mockbroker.server.serving import ServedCluster
from mockbroker.trace.events import Login

from ..hunt.admission import REFUSE_LOGIN
from ..hunt.events import happen
from ..hunt.journal import Acknowledged, Committed, Delivered, Happened, Read, Sent
from ..hunt.members import Consuming
from ..hunt.playing import Users
from ..hunt.shares import Sharing
from ..hunt.stage import Stage
from ..hunt.transactions import Transacting
from ..hunt.users import Sending
from .hearing import first_error

LIMIT_S: Final = 10.0
_LOOK_S: Final = 0.02


class NotReachedError(MockBrokerError):
    """The client has not come as far as the scenario needs; the message says what was awaited."""


class Scene:
    """A scenario while it is played."""

    def __init__(self, stage: Stage, users: Users) -> None:
        self.stage, self._users = stage, users
        self._acquired: dict[str, list[Delivered]] = {}

    @property
    def cluster(self) -> ServedCluster:
        return self.stage.cluster

    def producer(self, name: str = "producer") -> Sending:
        user = self._users[name]
        assert isinstance(user, Sending)
        return user

    def member(self, name: str) -> Consuming:
        user = self._users[name]
        assert isinstance(user, Consuming)
        return user

    def transactional(self, name: str = "transactions") -> Transacting:
        user = self._users[name]
        assert isinstance(user, Transacting)
        return user

    def sharing(self, name: str) -> Sharing:
        user = self._users[name]
        assert isinstance(user, Sharing)
        return user

    # What happens to the cluster.

    async def happens(self, do: str, **fields: Any) -> None:
        """Does what an event of a hunt does. NotReachedError if it was not possible."""
        why_not = await happen(self.stage.cluster, self.stage.outcome, do, fields)
        told = " ".join([do, *(f"{name}={value}" for name, value in fields.items())])
        self.stage.journal.add(Happened(what=told, why_not=why_not, do=do))
        if why_not:
            raise NotReachedError(f"{told}: {why_not}")

    async def written(self, count: int, topic: str = "t", partition: int = 0, acks: int = -1) -> None:
        """Other producers write records. NotReachedError if the partition has no leader in time."""

        async def write() -> bool:
            try:
                await self.cluster.produce_async(topic, "other", key="k", partition=partition, acks=acks)  # type: ignore[arg-type]
            except (MockBrokerError, TimeoutError):
                return False
            return True

        for _ in range(count):
            await self.until(f"{topic}-{partition} can be written to", write)
        told = f"{count} records are written to {topic}-{partition} by others"
        self.stage.journal.add(Happened(what=told))

    async def deletes(self, before: int, topic: str = "t") -> None:
        """The leader deletes the records below an offset, as retention does. NotReachedError."""
        try:
            await self.cluster.delete_records_async(topic, 0, before, timeout=_LOOK_S)
        except (MockBrokerError, TimeoutError) as error:
            if self.cluster.topic(topic).partitions[0].log_start_offset != before:
                raise NotReachedError(f"records below {before} are deleted: {error}") from None
        told = f"records of {topic}-0 below {before} are deleted"
        self.stage.journal.add(Happened(what=told))

    def adds_fault(self, do: str, **given: Any) -> None:
        """Adds a fault, which acts until all is well again."""
        self.cluster.run_with_faults(lambda faults: faults.add(do, **given))
        told = " ".join(["fault", do, *(f"{name}={value}" for name, value in given.items())])
        self.stage.journal.add(Happened(what=told))

    async def coordinator_is(self, broker: int) -> None:
        """Moves the coordinator of the group to a broker, unless it is there. NotReachedError."""
        if self.cluster.group("g").coordinator != broker:
            await self.happens("move-coordinator", group="g", to=broker)

    # Waits.

    async def until(self, what: str, condition: Callable[[], bool | Awaitable[bool]]) -> None:
        """Waits until the condition is true. NotReachedError with `what` if it is not in time."""
        with trio.move_on_after(LIMIT_S):
            while True:
                found = condition()
                if found if isinstance(found, bool) else await found:
                    return
                await trio.sleep(_LOOK_S)
        raise NotReachedError(what)

    async def reads(self, name: str, count: int, topic: str = "t") -> None:
        """A member polls until it has read so many records more. NotReachedError."""
        wanted = self._read(name, topic) + count
        if not await self._polls(name, lambda: self._read(name, topic) >= wanted, LIMIT_S):
            raise NotReachedError(f"{name} reads {count} records of {topic}")

    async def until_read(self, names: Sequence[str], count: int, topic: str = "t") -> None:
        """Members poll in turn until together they have read so many offsets more. NotReachedError."""
        end, wanted = trio.current_time() + LIMIT_S, self._offsets(names, topic) + count
        while self._offsets(names, topic) < wanted:
            if trio.current_time() > end:
                raise NotReachedError(f"{' and '.join(names)} read {count} offsets of {topic}")
            for name in names:
                await self.member(name).poll()

    async def acquires(self, name: str, count: int) -> None:
        """A member of a share group polls until it is given records, so many in all; of those before it says
        that they are accepted. NotReachedError."""
        member, end, found = self.sharing(name), trio.current_time() + LIMIT_S, list[Delivered]()
        while len(found) < count:
            if trio.current_time() > end:
                raise NotReachedError(f"{name} acquires {count} records")
            await member.say(found)
            found += await member.read()
        self._acquired[name] = found

    async def accepts(self, name: str) -> None:
        """A member of a share group accepts what it has acquired, and commits that."""
        member = self.sharing(name)
        await member.say(self._acquired.pop(name, ()))
        await member.commit()

    async def until_accepted(self, names: Sequence[str], count: int) -> None:
        """Members of a share group work in turn until they were told that so many records are accepted.
        NotReachedError."""
        end = trio.current_time() + LIMIT_S
        while self._accepted() < count:
            if trio.current_time() > end:
                raise NotReachedError(f"{' and '.join(names)} accept {count} records")
            for name in names:
                await self.sharing(name).work("commit")

    def _accepted(self) -> int:
        # By a callback, too: some clients say so before somebody commits.
        told = (e for e in self.stage.journal.of(Acknowledged) if e.error is None)
        return len({(e.topic, e.partition, offset) for e in told for offset in e.offsets})

    async def times_out(self) -> None:
        """As much time passes as a transaction may take."""
        await self.happens("pass-time", by_ms=2 * 60_000)

    async def polls(self, name: str, for_s: float = 3.0, topic: str = "t") -> None:
        """A member polls for so long, or until it has read something more."""
        before = self._read(name, topic)
        await self._polls(name, lambda: self._read(name, topic) > before, for_s)

    async def _polls(self, name: str, condition: Callable[[], bool], limit_s: float) -> bool:
        # A poll is not cut short, or what it returns would be lost.
        end = trio.current_time() + limit_s
        while not condition() and trio.current_time() < end:
            await self.member(name).poll()
            await trio.sleep(0)
        return condition()

    async def at_work(
        self, names: Sequence[str], over: Callable[[str], bool], limit_s: float = LIMIT_S
    ) -> None:
        """Producers send one record after the other, and members poll, each until it is over for it, or the
        time is."""
        end = trio.current_time() + limit_s

        def stops(name: str) -> bool:
            return over(name) or trio.current_time() > end

        async with trio.open_nursery() as nursery:
            for name in names:
                works = self._poll_on if isinstance(self._users[name], Consuming) else self._send_on
                nursery.start_soon(works, name, partial(stops, name))

    async def _poll_on(self, name: str, over: Callable[[], bool]) -> None:
        while not over():
            await self.member(name).poll()
            await trio.sleep(_LOOK_S)

    async def _send_on(self, name: str, over: Callable[[], bool]) -> None:
        while not over():
            await self.producer(name).send("t", 0)
            sent = [each for each in self.stage.journal.of(Sent) if each.user == name][-1:]
            while not over() and any(each.told is None for each in sent):
                await trio.sleep(_LOOK_S)
            await trio.sleep(_LOOK_S)

    async def hears(self, *names: str) -> None:
        """Clients are at work until each has told its user of an error, or the time is over."""
        since = self.stage.journal.last
        await self.at_work(names, lambda name: first_error(self.stage.outcome, name, since) is not None)

    def refuses_login(self, name: str, nth: int) -> None:
        """Brokers refuse this login of a client, by a mechanism that takes one SaslAuthenticate."""
        self.cluster.faults.add(
            "error",
            api="SaslAuthenticate",
            error="SASL_AUTHENTICATION_FAILED",
            client_id=name,
            nth=nth,
            times=1,
        )
        self.stage.journal.add(Happened(what=f"login {nth} of {name} will be refused", do=REFUSE_LOGIN))

    def logins(self, name: str) -> int:
        """How many times a client has logged in."""
        logins = (each for each in self.cluster.trace.events("login") if isinstance(each, Login))
        return sum(each.client_id == name and not each.failure for each in logins)

    def logs_in_for_s(self, name: str) -> float:
        """How long after its first login a client has last logged in."""
        logins = (each for each in self.cluster.trace.events("login") if isinstance(each, Login))
        times = [each.time_ms for each in logins if each.client_id == name and not each.failure]
        return (max(times) - min(times)) / 1000 if times else 0

    async def commits(self, name: str) -> None:
        """A member commits what it has read. NotReachedError if it is refused."""
        await self.member(name).commit()
        last = [each for each in self.stage.journal.of(Committed) if each.user == name][-1:]
        if not last or last[0].error is not None:
            raise NotReachedError(f"{name} commits its offsets")

    async def sends(self, name: str, count: int, topic: str = "t", partition: int = 0) -> None:
        """A producer sends records, and hears what becomes of them."""
        await self.producer(name).send(topic, partition, count=count)
        await self.producer(name).flush()

    def in_sync(self, topic: str = "t", partition: int = 0) -> set[int]:
        """The brokers in the ISR."""
        return {each.broker for each in self.cluster.replicas(topic, partition) if each.in_sync}

    def leader(self, topic: str = "t", partition: int = 0) -> int | None:
        return self.cluster.topic(topic).partitions[partition].leader

    def log_end(self, topic: str = "t", partition: int = 0) -> int:
        return self.cluster.topic(topic).partitions[partition].log_end_offset

    def _offsets(self, names: Sequence[str], topic: str) -> int:
        read = (each for each in self.stage.journal.of(Read) if each.user in names and each.topic == topic)
        return len({(each.partition, each.offset) for each in read})

    def _read(self, name: str, topic: str) -> int:
        return sum(each.user == name and each.topic == topic for each in self.stage.journal.of(Read))
