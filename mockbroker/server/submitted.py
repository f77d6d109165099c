"""Calls into a trio program that runs in another thread."""

import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from typing import Any, TypeVar

import trio

__tracebackhide__ = True
T = TypeVar("T")


class Calls:
    """Every call is answered, with the error that `ended` makes if the program ends before."""

    def __init__(self, ended: Callable[[], Exception]) -> None:
        self._ended = ended
        self._open: set[Future[Any]] = set()
        self._lock = threading.Lock()
        self.over = False

    def __len__(self) -> int:
        """How many are not answered yet."""
        return len(self._open)

    def submit(self, token: trio.lowlevel.TrioToken, function: Callable[[], T]) -> Future[T]:
        """What `function` returns or raises there. If the future is cancelled before, it is not called."""
        result: Future[T] = Future()

        def answer() -> None:
            if result.set_running_or_notify_cancel():
                try:
                    result.set_result(function())
                except BaseException as error:
                    result.set_exception(error)

        self.track(result)
        # Calls that trio no longer makes are answered by `end`.
        with contextlib.suppress(trio.RunFinishedError):
            token.run_sync_soon(answer)
        return result

    def track(self, future: Future[Any]) -> None:
        """Makes sure that the future is not left open when the program ends."""
        with self._lock:
            if self.over and not future.done():
                raise self._ended()
            self._open.add(future)
        future.add_done_callback(self._open.discard)

    def end(self) -> None:
        """The program has ended."""
        with self._lock:
            self.over = True
        for each in list(self._open):
            with contextlib.suppress(InvalidStateError):
                each.set_exception(self._ended())
