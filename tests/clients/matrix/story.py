"""What two members of a group do on any cluster, and how far they get."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import trio
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from mockbroker.clients.drivers import Answer, Driver

PARTITIONS: Final = 4
PART: Final = 40
"""So many records are written before each step."""
LIMIT_S: Final = 40
GOOD: Final = "good"
_LIMIT_MS: Final = 1000 * LIMIT_S
_POLL_MS: Final = 100
_NOTHING_TO_COMMIT: Final = "_NO_OFFSET"


async def play(driver: Driver, bootstrap: str, name: str) -> str:
    """One joins and reads all; another joins, and each reads its half; it leaves, and the first reads all
    again. `GOOD` if each record was read once and all is committed; otherwise at which step it ended, and
    why."""
    members = _Members(driver, bootstrap, name)
    try:
        await members.go()
    except _FailedError as error:
        return f"{members.step}: {error}"
    except trio.TooSlowError:
        told = ", ".join(sorted(members.errors)) or "no error"
        return f"{members.step}: not done after {LIMIT_S} s, {told}"
    finally:
        await members.end()
    return GOOD


class _FailedError(Exception):
    """The client told an error after which nothing more will come, or did what it must not do."""


class _Members:
    def __init__(self, driver: Driver, bootstrap: str, name: str) -> None:
        self._driver, self._bootstrap, self._name = driver, bootstrap, name
        self._owned: dict[str, set[int]] = {}
        self._read: Counter[tuple[int, int]] = Counter()
        self._written = 0
        self.step = "begins"
        self.errors: set[str] = set()

    async def go(self) -> None:
        a, b = f"{self._name}-a", f"{self._name}-b"
        await trio.to_thread.run_sync(self._create)
        await self._write()
        self.step = "one joins"
        await self._join(a)
        await self._read_all()
        self.step = "another joins"
        await self._join(b)
        await self._until(lambda: sorted(map(len, self._owned.values())) == [2, 2])
        self.step = "both read"
        await self._write()
        await self._read_all()
        self.step = "one leaves"
        await self._leave(b)
        await self._until(lambda: len(self._owned[a]) == PARTITIONS)
        self.step = "the other reads"
        await self._write()
        await self._read_all()
        self.step = "committed offsets"
        await self._check(a)
        self.step = "the last leaves"
        await self._leave(a)

    def _create(self) -> None:
        admin = AdminClient({"bootstrap.servers": self._bootstrap})
        for done in admin.create_topics([NewTopic(self._name, PARTITIONS, 1)]).values():
            done.result(LIMIT_S)

    async def _write(self) -> None:
        producer = Producer({"bootstrap.servers": self._bootstrap, "linger.ms": 5})
        for number in range(PART):
            producer.produce(self._name, str(number), partition=number % PARTITIONS)
        if await trio.to_thread.run_sync(producer.flush, LIMIT_S):
            raise _FailedError("records could not be written")
        self._written += PART

    async def _join(self, member: str) -> None:
        config = {
            "bootstrap.servers": self._bootstrap,
            "client.id": member,
            "group.id": self._name,
            "group.protocol": "consumer",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
        self._driver.listen(member, partial(self._told, member))
        self._ok(await self._driver.call("open", member, kind="consumer", config=config))
        self._owned[member] = set()
        self._ok(await self._driver.call("subscribe", member, topics=[self._name]))

    async def _leave(self, member: str) -> None:
        del self._owned[member]
        self._ok(await self._driver.call("close", member, _LIMIT_MS))

    async def end(self) -> None:
        """Closes what is still open."""
        for member in [*self._owned]:
            del self._owned[member]
            await self._driver.call("close", member, _LIMIT_MS)

    def _told(self, member: str, event: str, fields: Mapping[str, Any]) -> None:
        partitions = {index for _, index in fields.get("partitions", ())}
        if event == "assigned" and member in self._owned:
            # librdkafka before 2.10 tells all that it has, and not what was taken away from it.
            kept = set() if partitions & self._owned[member] else self._owned[member]
            self._owned[member] = kept | partitions
        elif event in ("revoked", "lost") and member in self._owned:
            self._owned[member] -= partitions
        elif event == "error":
            self.errors.add(fields["error"]["name"])

    async def _until(self, check: Callable[[], bool]) -> None:
        with trio.fail_after(LIMIT_S):
            while not check():
                for member in self._owned:
                    await self._poll(member)

    async def _poll(self, member: str) -> None:
        found = self._ok(await self._driver.call("poll", member, _POLL_MS))
        for each in found["records"]:
            self._read[each["partition"], each["offset"]] += 1
        for error in found.get("errors", ()):
            self.errors.add(error["name"])
            if error.get("fatal"):
                raise _FailedError(error["name"])

    async def _read_all(self) -> None:
        await self._until(lambda: len(self._read) >= self._written)
        for member in self._owned:
            answer = await self._driver.call("commit", member, _LIMIT_MS)
            if answer.error is None or answer.error.name != _NOTHING_TO_COMMIT:
                self._ok(answer)
        if twice := [each for each, times in self._read.items() if times > 1]:
            raise _FailedError(f"{len(twice)} records were read twice")

    async def _check(self, member: str) -> None:
        partitions = [[self._name, index] for index in range(PARTITIONS)]
        found = self._ok(await self._driver.call("committed", member, _LIMIT_MS, partitions=partitions))
        offsets = [offset for *_, offset in found["offsets"]]
        if offsets != [self._written // PARTITIONS] * PARTITIONS:
            raise _FailedError(f"{offsets}")

    def _ok(self, answer: Answer) -> Mapping[str, Any]:
        if answer.error is not None:
            raise _FailedError(answer.error.name)
        assert answer.ok is not None
        return answer.ok
