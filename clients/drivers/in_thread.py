"""A driver whose calls are made in a thread of its own, for callers that don't run under trio."""

import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager

import trio

from mockbroker.errors import first_of

from .driver import Driver, open_driver
from .lines import LOGS


class Client:
    """A client library under test, which a driver speaks for. `open_client` starts it."""

    def __init__(self, driver: Driver, nursery: trio.Nursery) -> None:
        self.name = driver.hello.client
        self.capabilities = driver.hello.capabilities
        self.driver = driver
        self.over = trio.Event()
        self._nursery = nursery
        self._token = trio.lowlevel.current_trio_token()

    def begin(self, task: Callable[[], Awaitable[None]]) -> None:
        """Starts a task in the driver's thread. Any thread may call it."""
        self._token.run_sync_soon(self._nursery.start_soon, task)

    def later(self, action: Callable[[], object]) -> None:
        """Has something done in the driver's thread. Any thread may call it."""
        self._token.run_sync_soon(action)


@contextmanager
def open_client(command: Sequence[str]) -> Iterator[Client]:
    """Starts a driver, and ends it with the block. OSError, DriverFailedError."""
    started: Future[Client] = Future()
    failed: list[BaseException] = []

    async def main() -> None:
        async with open_driver(command, {LOGS: "1"}) as driver, trio.open_nursery() as nursery:
            client = Client(driver, nursery)
            started.set_result(client)
            await client.over.wait()
            nursery.cancel_scope.cancel()

    def run() -> None:
        try:
            trio.run(main)
        except BaseException as error:
            failed.append(first_of(error))
            if not started.done():
                started.set_exception(failed[0])

    thread = threading.Thread(target=run, name="driver")
    thread.start()
    try:
        client = started.result()
        try:
            yield client
        finally:
            if not failed:
                client.later(client.over.set)
    finally:
        thread.join()
    if failed:
        raise failed[0]
