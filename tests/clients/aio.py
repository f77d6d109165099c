"""An event loop in a thread of its own, for aiokafka."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Self, TypeVar

from .scenario import TIMEOUT

T = TypeVar("T")


class Loop:
    """Runs coroutines for threads."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()

    def run(self, job: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(job, self.loop).result(TIMEOUT)

    def call(self, function: Callable[..., T], *args: object) -> T:
        async def job() -> T:
            return function(*args)

        return self.run(job())
