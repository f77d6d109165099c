"""Operators, who create topics and add partitions by a client."""

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
        if self.handle is None and await self.open("admin", self.planned.config) is not None:
            return
        given = {"at_once": len(topics) > 1, **more}
        begun = [
            await self.begin_call(verb, self.call_ms, topic=topic, partitions=partitions, **given)
            for topic, partitions in topics
        ]
        for each in begun:
            await each.wait()

    async def afterwards(self) -> None:
        """What it was told is done has to be so."""
