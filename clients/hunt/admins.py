"""Operators, who create, change and delete topics by a client, delete records, and ask for offsets."""

from collections.abc import Sequence
from typing import Any

from .users import Application


class Administering(Application):
    """Asks for several things at once, and goes on after every error."""

    kind = "admin"

    async def create(self, topics: Sequence[Sequence[Any]]) -> None:
        """Creates topics with so many partitions each, by a call for each."""
        await self._ask("create-topic", topics, replication_factor=1)

    async def widen(self, topics: Sequence[Sequence[Any]]) -> None:
        """Has topics get so many partitions in all, by a call for each."""
        await self._ask("create-partitions", topics)

    async def _ask(self, verb: str, topics: Sequence[Sequence[Any]], **more: Any) -> None:
        if not await self._ready():
            return
        given = {"at_once": len(topics) > 1, **more}
        begun = [
            await self.begin_call(verb, self.call_ms, topic=topic, partitions=partitions, **given)
            for topic, partitions in topics
        ]
        for each in begun:
            await each.wait()

    async def delete(self, topic: str) -> None:
        await self._do("delete-topic", topic=topic)

    async def alter(self, topic: str, name: str, to: str) -> None:
        await self._do("alter-config", topic=topic, name=name, to=to)

    async def describe(self, topic: str, name: str) -> None:
        await self._do("describe-config", topic=topic, name=name)

    async def trim(self, topic: str, partition: int, offset: int) -> None:
        """Deletes the records before an offset, if there are so many."""
        await self._do("delete-records", topic=topic, partition=partition, offset=offset)

    async def list(self, topic: str, partition: int, at: str) -> None:
        """Asks where a partition begins (`earliest`) or ends (`latest`)."""
        await self._do("list-offsets", topic=topic, partition=partition, at=at)

    async def _do(self, verb: str, **fields: Any) -> None:
        if await self._ready():
            await self.call(verb, self.call_ms, **fields)

    async def _ready(self) -> bool:
        return self.handle is not None or await self.open("admin", self.planned.config) is None

    async def afterwards(self) -> None:
        """What it was told is done has to be so."""
