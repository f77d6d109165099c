"""The handles of a driver, as a history uses them."""

import math
import threading
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Generic, TypeVar

import trio

from ..drivers import Answer, DriverFailedError, OverdueError
from ..drivers.in_thread import Client

T = TypeVar("T")
_LIMIT_S: Final = 2.0
SETTINGS: Final[Mapping[str, Any]] = {
    "request.timeout.ms": 1_600,
    "retry.backoff.ms": 50,
    "reconnect.backoff.ms": 100,
    "reconnect.backoff.max.ms": 100,
}
"""Of every client. Nothing that it does is left out; it waits about as long as the model does."""


class Handle(Generic[T]):
    """A handle of the driver, and what is to be done with it, in its order."""

    def __init__(self, client: Client, name: str, failed: Callable[[str], None]) -> None:
        """`failed` is called once, in the driver's thread, when no more calls are possible."""
        self.client, self.name = client, name
        self._failed = failed
        self.dead = False
        self._send, self.to_do = trio.open_memory_channel[T](math.inf)
        self._ended = threading.Event()

    def begin(self, task: Callable[[], Awaitable[None]]) -> None:
        """`task` does what there is to do until there will be no more. Any thread may call it."""

        async def run() -> None:
            try:
                await task()
            finally:
                self._ended.set()

        self.client.begin(run)

    def do(self, what: T) -> None:
        """Any thread may call it."""
        self.client.later(lambda: self._send.send_nowait(what))

    def end(self) -> None:
        """Nothing more is to be done; waits until all is."""
        self.client.later(self._send.close)
        self._ended.wait()

    async def open(self, kind: str, config: Mapping[str, Any]) -> str:
        """Returns why it could not be opened, or nothing."""
        whole = {**SETTINGS, "client.id": self.name, **config}
        answer = await self.call("open", kind=kind, config=whole)
        if answer is None:
            return "its driver has failed"
        return "" if answer.error is None else str(answer.error)

    async def close(self) -> None:
        await self.call("close", round(_LIMIT_S * 1_000))

    async def call(self, verb: str, timeout_ms: int | None = None, **fields: Any) -> Answer | None:
        """Makes a call; None if no more are possible."""
        if self.dead:
            return None
        try:
            return await self.client.driver.call(verb, self.name, timeout_ms, **fields)
        except (DriverFailedError, OverdueError) as error:
            self.give_up(error)
            return None

    def give_up(self, error: object) -> None:
        """No more calls are made."""
        if not self.dead:
            self.dead = True
            self._failed(str(error))
