"""A real producer in a model producer's place."""

import base64
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeVar

from mockbroker.protocol.errors import ErrorCode
from mockbroker.server.mock_cluster import MockCluster
from mockbroker.simulation.batches import header_name, is_tombstone, key_bytes
from mockbroker.simulation.producer import ModelProducer
from mockbroker.simulation.producer_setting import Generation, ProducerSetting
from mockbroker.simulation.scene import TOPIC

from ..drivers import Answer, DriverFailedError, Refusal
from ..drivers.in_thread import Client
from .client import Handle
from .consumer import NUMBER
from .stage import Stage

T = TypeVar("T")
_OPENS: Final = 5
"""How often it is tried: some clients give up if no broker answers at once."""


class Producer(ModelProducer):
    """Looks like a model producer to those who ask about it; a real one does the work.

    The world that it is in is touched in the cluster's thread only, or while that waits. A task in the
    driver's thread sends what there is to send.
    """

    def __init__(
        self, client: Client, cluster: MockCluster, stage: Stage, name: str, setting: ProducerSetting
    ) -> None:
        idempotent = setting.generation is not Generation.PLAIN and "idempotence" in client.capabilities
        setting = replace(setting, acks=-1 if idempotent else setting.acks)
        super().__init__(stage, stage.production, name, (TOPIC, 0), setting)
        self.idempotent = idempotent
        self.waiting = 0
        """How many records are not delivered yet, nor given up."""
        self._cluster, self._stage = cluster, stage
        self._config = {
            "bootstrap.servers": cluster.bootstrap_servers,
            "acks": "all" if setting.acks == -1 else str(setting.acks),
            "compression.type": "none",
            "enable.idempotence": idempotent,
            "linger.ms": 5,
            "max.in.flight.requests.per.connection": setting.in_flight if idempotent else 1,
        }
        self._handle: Handle[int] = Handle(
            client, name, lambda text: self._in_cluster(partial(self._dies, text))
        )
        client.driver.listen(name, self._heard)
        self._handle.begin(self._run)

    # -- in the cluster's thread

    def send(self, count: int) -> None:
        first = self._stage.production.number(self, count)
        if self.failed:
            return
        self.tell(f"sends records {first} to {first + count - 1}")
        self.waiting += count
        for number in range(first, first + count):
            self._handle.do(number)

    def close(self) -> None:
        """Ends it, delivered or not. For the history's thread."""
        self._handle.end()

    # -- in the driver's thread

    async def _run(self) -> None:
        for left in reversed(range(_OPENS)):
            error = await self._handle.open("producer", self._config)
            if not error:
                break
            if not left:
                self._handle.give_up(f"can't be opened: {error}")
        async for number in self._handle.to_do:
            await self._produce(number)
        await self._handle.close()

    async def _produce(self, number: int) -> None:
        if self._handle.dead:
            return
        content: dict[str, Any] = {"key": None, "value": _encoded(NUMBER.pack(number))}
        if self._stage.plan.compacted:
            content = {
                "key": _encoded(key_bytes(number)),
                "value": None if is_tombstone(number) else "",
                "headers": [[header_name(number), None]],
            }
        try:
            await self._handle.client.driver.send(
                "produce", self.name, then=self._told(number), topic=TOPIC, partition=0, **content
            )
        except DriverFailedError as error:
            self._handle.give_up(error)

    def _heard(self, event: str, line: Any) -> None:
        if event == "error" and line["error"].get("fatal"):
            self._in_cluster(self._fails)

    def _told(self, number: int) -> Callable[[Answer], None]:
        def told(answer: Answer) -> None:
            if answer.error is not None:
                self._in_cluster(partial(self._gives_up, number, answer.error))
            elif answer.ok is not None:
                self._in_cluster(partial(self._delivered, number, answer.ok.get("offset")))

        return told

    # -- in the cluster's thread, as told by the driver's

    def _delivered(self, number: int, offset: int | None) -> None:
        self.waiting -= 1
        if offset is not None and offset >= 0:
            self._stage.production.acknowledged(self, number, 1, offset)

    def _gives_up(self, number: int, error: Refusal) -> None:
        self.waiting -= 1
        self.tell(f"gives up record {number}: {error}")
        self.failed = self.failed or bool(error.fatal)
        for code in ErrorCode:
            if code == error.code:
                self._stage.production.reported(self, code)

    def _dies(self, text: str) -> None:
        self.tell(text)
        self._fails()

    def _fails(self) -> None:
        self.failed = True

    def _in_cluster(self, action: Callable[[], T]) -> T:
        return self._cluster.run(lambda _: action())


def _encoded(value: bytes) -> str:
    return base64.b64encode(value).decode()
