"""The two sockets of a session. Each side is read only as far as the other one takes what comes of it."""

import contextlib
from collections.abc import Awaitable, Callable
from typing import Final

import trio

from .framing import Outlet
from .session import UNSENT_BYTES, Session
from .sides import Side

BROKER_GONE: Final = (ConnectionError, TimeoutError)


class Connection:
    """Carries bytes between `client` and `broker`, and closes both in the end.

    `before` is called before bytes are handled, `after` afterwards; `woke` when a task was woken or started.
    """

    def __init__(
        self,
        client: Side,
        broker: Side,
        before: Callable[[], None],
        after: Callable[[], None],
        woke: Callable[[], None],
    ) -> None:
        self._client = client
        self._broker = broker
        self._before = before
        self._after = after
        self._woke = woke
        self._to_write, self._room = trio.lowlevel.ParkingLot(), trio.lowlevel.ParkingLot()
        self._client_ended = self._broker_ended = False

    def poke(self) -> None:
        """The session may have more to write, or more room."""
        self._wake(self._to_write)
        self._wake(self._room)

    def _wake(self, those: trio.lowlevel.ParkingLot) -> None:
        if those:
            those.unpark_all()
            self._woke()

    async def run(self, session: Session, first: bytes) -> None:
        """Until either side has ended, and the client has what was left for it. `first` is what the client
        has said already."""
        self._session = session
        try:
            self._handle(session.from_client, first)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._guarded, self._read_client, nursery.cancel_scope)
                nursery.start_soon(self._guarded, self._read_broker, nursery.cancel_scope)
                nursery.start_soon(self._guarded, self._write_broker, nursery.cancel_scope)
                nursery.start_soon(self._guarded, self._write_client, nursery.cancel_scope)
                self._woke()
        finally:
            with trio.CancelScope(shield=True):
                await self._client.close(resets=session.resets)
                await self._broker.close(resets=False)

    async def _guarded(self, work: Callable[[], Awaitable[None]], scope: trio.CancelScope) -> None:
        try:
            await work()
        except OSError:
            # Nobody is left to be told.
            scope.cancel()
        else:
            if work == self._write_client:
                scope.cancel()

    async def _read_client(self) -> None:
        while True:
            while self._client_has_to_wait:
                await self._room.park()
            if await self._client.carry(self._from_client):
                break
        self._client_ended = True
        self.poke()

    async def _read_broker(self) -> None:
        while True:
            while self._broker_has_to_wait:
                await self._room.park()
            ended = True
            with contextlib.suppress(*BROKER_GONE):
                ended = await self._broker.carry(self._from_broker)
            if ended:
                break
        self._broker_ended = True
        self.poke()

    @property
    def _client_has_to_wait(self) -> bool:
        return self._session.is_full or self._session.to_broker.size > UNSENT_BYTES

    @property
    def _broker_has_to_wait(self) -> bool:
        return self._session.to_client.size > UNSENT_BYTES

    def _from_client(self, data: bytes) -> bool:
        session = self._session
        if session.passes_request(data):
            # What has to be known of it is noted while the broker works.
            if not session.request_passed(data, self._broker.send_now(data)):
                self._wake(self._to_write)
        else:
            self._handle(session.from_client, data)
        return not self._client_has_to_wait

    def _from_broker(self, data: bytes) -> bool:
        session = self._session
        if session.passes_answer(data):
            if not session.answer_passed(data, self._client.send_now(data)):
                self._wake(self._to_write)
        else:
            self._handle(session.from_broker, data)
        return not self._broker_has_to_wait

    def _handle(self, take: Callable[[bytes], None], data: bytes) -> None:
        session = self._session
        self._before()
        take(data)
        to_broker, to_client = session.to_broker, session.to_client
        try:
            if to_broker.size:
                self._broker.write_now(to_broker)
            if to_client.size:
                self._client.write_now(to_client)
        except OSError:
            # What is left, and what went wrong, is the writers' business.
            self._wake(self._to_write)
        self._after()
        self._wake(self._room)
        if to_broker.size or to_client.size or session.wants_close:
            # Else they would be woken for nothing.
            self._wake(self._to_write)

    async def _write_broker(self) -> None:
        outlet = self._session.to_broker
        while True:
            with contextlib.suppress(*BROKER_GONE):
                await self._written(self._broker, outlet)
                if self._client_ended:
                    self._broker.end()
                    return
            if self._broker_ended:
                return
            await self._to_write.park()

    async def _write_client(self) -> None:
        session = self._session
        while True:
            await self._written(self._client, session.to_client)
            if session.wants_close or self._broker_ended:
                return
            await self._to_write.park()

    async def _written(self, side: Side, outlet: Outlet) -> None:
        while outlet.size:
            await side.write(outlet)
            self._wake(self._room)
