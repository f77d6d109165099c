"""How an answer that a fault has changed is sent."""

from collections import deque
from collections.abc import Callable
from typing import Protocol

from ..faults.exchange import Delivery, End


class Outlet(Protocol):
    """What answers are sent through, in order, until it `wants_close`."""

    wants_close: bool

    def send(self, frame: bytes) -> None: ...

    def end(self, how: End) -> None: ...


class Deliveries:
    """The changed answers of one connection.

    `wait` calls a function after some ms; `flush` is called when something was sent while no request is being
    handled; `done` lets the connection go on with its next request.
    """

    def __init__(
        self,
        outlet: Outlet,
        wait: Callable[[int, Callable[[], None]], object],
        flush: Callable[[], None],
        done: Callable[[], None],
    ) -> None:
        self._outlet = outlet
        self._wait = wait
        self._flush = flush
        self._done = done
        self._withheld: deque[bytes] = deque()

    @property
    def withholds(self) -> bool:
        """Whether answers are sent later, at any time."""
        return bool(self._withheld)

    def deliver(self, how: Delivery) -> bool:
        """Sends an answer, at once and as a whole or not; False if `done` will be called when it has been
        sent."""
        if how.swap_ms is not None:
            self._withheld.append(how.data)
            self._wait(how.swap_ms, self.send_withheld)
            return True
        return self._send_parts(deque(_parts(how.data, how.part_bytes)), how)

    def _send_parts(self, parts: deque[bytes], how: Delivery) -> bool:
        outlet = self._outlet
        if outlet.wants_close:
            return False
        outlet.send(parts.popleft())
        if parts:
            self._flush()
            self._wait(how.part_ms, lambda: self._go_on(parts, how))
            return False
        if how.end is not None:
            outlet.end(how.end)
        self.send_withheld()
        if how.mute_ms and how.end is None:
            self._flush()
            self._wait(how.mute_ms, self._done)
            return False
        return True

    def _go_on(self, parts: deque[bytes], how: Delivery) -> None:
        if self._send_parts(parts, how):
            self._done()

    def send_withheld(self) -> None:
        """Sends the answers that were withheld until after another one."""
        while self._withheld:
            self._outlet.send(self._withheld.popleft())
            self._flush()


def _parts(data: bytes, size: int | None) -> list[bytes]:
    if size is None:
        return [data]
    return [data[i : i + size] for i in range(0, len(data), size)] or [data]
