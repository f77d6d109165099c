"""A driver whose calls are made in a thread of its own, for callers that don't run under trio."""

import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import Any, Final, TypeVar

import trio

from mockbroker.errors import first_of

from .driver import Driver, open_driver
from .lines import LOGS, Answer, DriverFailedError, OverdueError, Refusal

T = TypeVar("T")
_ENDED: Final = "its driver was ended"


class Client:
    """A client library under test, which a driver speaks for. `open_client` starts it."""

    def __init__(self, driver: Driver, nursery: trio.Nursery) -> None:
        self.name = driver.hello.client
        self.capabilities = driver.hello.capabilities
        self.driver = driver
        self.over = trio.Event()
        self._nursery = nursery
        self._token = trio.lowlevel.current_trio_token()
        self._to_send, self._calls = trio.open_memory_channel[_Call](float("inf"))
        nursery.start_soon(self._send_all)

    def begin(self, task: Callable[[], Awaitable[None]]) -> None:
        """Starts a task in the driver's thread. Any thread may call it."""
        self._token.run_sync_soon(self._nursery.start_soon, task)

    def run(self, task: Callable[[], Awaitable[T]]) -> T:
        """Runs a task in the driver's thread, and waits for it. Raises what it raises."""
        return trio.from_thread.run(task, trio_token=self._token)

    def later(self, action: Callable[[], object]) -> None:
        """Has something done in the driver's thread. Any thread may call it."""
        self._token.run_sync_soon(action)

    def send(self, verb: str, handle: str, timeout_ms: int | None = None, **fields: Any) -> Future[Answer]:
        """Begins a call. Requests have the order in which a thread asked for them. The future raises what
        `Driver.call` does."""
        answer: Future[Answer] = Future()
        self.later(lambda: self._to_send.send_nowait((answer, (verb, handle, timeout_ms), fields)))
        return answer

    def call(self, verb: str, handle: str, timeout_ms: int | None = None, **fields: Any) -> Mapping[str, Any]:
        """Makes a call. RefusedError for an error of the client; DriverFailedError, OverdueError."""
        return taken(self.send(verb, handle, timeout_ms, **fields).result())

    def produce(self, handle: str, records: Iterable[Mapping[str, Any]], timeout_ms: int) -> None:
        """Gives records to a producer, all at once, and waits until they are delivered. Raises what `call`
        does."""

        async def produce() -> None:
            sent = await self.driver.send_many("produce", handle, records)
            taken(await self.driver.call("flush", handle, timeout_ms))
            for each in sent:
                taken(await each.wait())

        self.run(produce)

    def listen(self, handle: str, heard: Callable[[str, Mapping[str, Any]], None]) -> None:
        """`heard` is called in the driver's thread, with each event of a handle."""
        self.later(lambda: self.driver.listen(handle, heard))

    async def _send_all(self) -> None:
        async for call in self._calls:
            answer, (verb, handle, timeout_ms), fields = call
            try:
                pending = await self.driver.send(verb, handle, timeout_ms, **fields)
            except DriverFailedError as error:
                answer.set_exception(error)
                continue
            except trio.Cancelled:
                answer.set_exception(DriverFailedError(_ENDED))
                raise
            self._nursery.start_soon(_pass_on, pending.wait, answer)

    def fail_what_is_left(self) -> None:
        """Once the driver's thread has ended: calls that it did not come to would wait for ever."""
        with suppress(trio.WouldBlock):
            while True:
                answer, *_ = self._calls.receive_nowait()
                answer.set_exception(DriverFailedError(_ENDED))


_Call = tuple[Future[Answer], tuple[str, str, int | None], Mapping[str, Any]]


async def _pass_on(wait: Callable[[], Awaitable[Answer]], answer: Future[Answer]) -> None:
    try:
        answer.set_result(await wait())
    except (DriverFailedError, OverdueError) as error:
        answer.set_exception(error)
    except trio.Cancelled:
        answer.set_exception(DriverFailedError(_ENDED))
        raise


class RefusedError(RuntimeError):
    """An error that the client told its user."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal


def taken(answer: Answer) -> Mapping[str, Any]:
    """What a call returned. RefusedError."""
    if answer.error is not None:
        raise RefusedError(answer.error)
    return answer.ok or {}


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
        if started.exception() is None:
            started.result().fail_what_is_left()

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
