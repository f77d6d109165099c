"""A cluster that is served in a thread of its own."""

import contextlib
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from typing import Any, Final, TypeVar

import trio

from ..control.errors import ConflictError
from ..errors import BlockingCallError, NotRunningError
from .reporting import Reporting
from .serving import ServedCluster, serve

T = TypeVar("T")
_LOOK_SECONDS: Final = 1.0
"""How often a caller looks whether the cluster's thread is still there."""


class ClusterThread:
    """Serves one cluster, once. `reporting` is that of the cluster, when it is up."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._options = options
        self._served: ServedCluster | None = None
        self._error: BaseException | None = None
        self._up = threading.Event()
        self._thread: threading.Thread | None = None
        self._token: trio.lowlevel.TrioToken | None = None
        self._stop: trio.Event | None = None
        self.reporting: Reporting | None = None

    @property
    def served(self) -> ServedCluster:
        """NotRunningError."""
        if self._served is None:
            raise NotRunningError("the cluster does not run: use it in a with block, or call start() first")
        return self._served

    def __str__(self) -> str:
        if self._served is not None:
            return str(self._served)
        return "not started" if self._thread is None else "stopped"

    def start(self) -> None:
        """Returns once every broker listens. Raises what `serve` raises; ConflictError the second time."""
        if self._thread is not None:
            raise ConflictError("this cluster was started already: make a new MockCluster")
        self._thread = threading.Thread(target=trio.run, args=(self._main,), name="mockbroker", daemon=True)
        self._thread.start()
        self._up.wait()
        if self._error is not None:
            self._thread.join()
            raise self._error

    def stop(self) -> None:
        """Closes every connection and returns when the thread has ended; fine to call twice. Raises what
        ended the cluster before."""
        if self._thread is None or self._token is None or self._stop is None:
            return
        with contextlib.suppress(trio.RunFinishedError):
            self._token.run_sync_soon(self._stop.set)
        self._thread.join()
        self._served = None
        if self._error is not None:
            raise self._error

    def call(self, function: Callable[[], T]) -> T:
        """Calls `function` in the cluster's thread and gives what it returns. May be called in any other."""
        thread, token = self._thread, self._token
        assert thread is not None
        assert token is not None
        if thread is threading.current_thread():
            raise BlockingCallError("this is the cluster's own thread: use what the function was given")
        result: Future[T] = Future()

        def answer() -> None:
            try:
                result.set_result(function())
            except BaseException as error:
                result.set_exception(error)

        try:
            token.run_sync_soon(answer)
        except trio.RunFinishedError:
            raise self._ended() from self._error
        while not wait([result], _LOOK_SECONDS).done:
            if not thread.is_alive() and not result.done():
                raise self._ended() from self._error
        return result.result()

    def _ended(self) -> NotRunningError:
        return NotRunningError("the cluster has ended" + (" by an error" if self._error else ""))

    async def _main(self) -> None:
        try:
            async with serve(**self._options) as served:
                self._token = trio.lowlevel.current_trio_token()
                self._stop = trio.Event()
                self._served, self.reporting = served, served.reporting
                self._up.set()
                await self._stop.wait()
        except BaseException as error:
            self._error = error
        finally:
            self._up.set()
