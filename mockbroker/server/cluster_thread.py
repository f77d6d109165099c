"""Serves a cluster in a thread of its own."""

import contextlib
import math
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

import trio

from ..cluster_options import ClusterOptions
from ..errors import BlockingCallError, ConflictError, MockBrokerError, NotRunningError
from ..tracebacks import from_users, of_users
from . import waiting
from .observer import Observer, SilentObserver
from .reporting import Reporting
from .serving import ServedCluster, serve
from .submitted import Calls

__tracebackhide__ = True
T = TypeVar("T")


class ClusterThread:
    """Serves one cluster, once. `reporting` is the cluster's, once that is up."""

    def __init__(self, options: ClusterOptions, observer: Observer | None) -> None:
        self._observer = observer
        self._options = options
        self._served: ServedCluster | None = None
        self._error: BaseException | None = None
        self._up = self._asked_to_stop = False
        self._tells: waiting.Tells = []
        self._thread: threading.Thread | None = None
        self._token: trio.lowlevel.TrioToken | None = None
        self._stop: trio.Event | None = None
        self._calls = Calls(self._ended)
        self.reporting: Reporting | None = None

    @property
    def served(self) -> ServedCluster:
        """NotRunningError."""
        if self._served is None:
            raise NotRunningError("the cluster is not running: use it in a with block, or call start() first")
        return self._served

    def __str__(self) -> str:
        if self._served is not None:
            return str(self._served)
        return "not started" if self._thread is None else "stopped"

    @property
    def is_current(self) -> bool:
        """Whether the caller is in the cluster's thread."""
        return self._thread is threading.current_thread()

    def start(self) -> None:
        """Returns once every broker listens. Raises what `serve` raises; ConflictError the second time."""
        self._begin()
        waiting.until(lambda: self._up, self._tells, math.inf)
        self._check()

    async def start_async(self) -> None:
        """As `start`. If it is cancelled, the cluster stops by itself."""
        self._begin()
        try:
            await waiting.until_async(lambda: self._up, self._tells, math.inf)
        except BaseException:
            self._ask_to_stop()
            raise
        self._check()

    def _begin(self) -> None:
        if self._thread is not None:
            raise ConflictError("this cluster has already been started: make a new MockCluster")
        self._thread = threading.Thread(target=self._run, name="mockbroker", daemon=True)
        self._thread.start()

    def _check(self) -> None:
        if self._error is not None:
            assert self._thread is not None
            self._thread.join()
            raise _in_brief(self._error) from self._error.__cause__

    def stop(self) -> None:
        """Closes every connection and returns when the thread has ended; may be called twice. Raises the
        error that ended the cluster, if there was one; BlockingCallError in its own thread."""
        if self.is_current:
            raise BlockingCallError("this is the cluster's own thread: stop the cluster from another thread")
        if self._thread is not None:
            self._ask_to_stop()
            self._thread.join()
            self._stopped()

    async def stop_async(self) -> None:
        """As `stop`."""
        if self._thread is not None:
            self._ask_to_stop()
            with waiting.to_the_end():
                await waiting.until_async(lambda: self._calls.over, self._tells, math.inf)
            self._thread.join()
            self._stopped()

    def _ask_to_stop(self) -> None:
        self._asked_to_stop = True
        if self._token is not None and self._stop is not None:
            with contextlib.suppress(trio.RunFinishedError):
                self._token.run_sync_soon(self._stop.set)

    def _stopped(self) -> None:
        self._served = None
        if self._token is not None and self._error is not None:
            raise self._error

    def call(self, function: Callable[[], T]) -> T:
        """Calls `function` in the cluster's thread and returns its result."""
        if self.is_current:
            return function()
        try:
            return self._submit(function).result()
        except BaseException as error:
            raise _in_brief(error) from error.__cause__

    async def call_async(self, function: Callable[[], T]) -> T:
        """As `call`. If it is cancelled before `function` has begun, `function` is not called."""
        return await waiting.result_of(self._submit(function))

    def _submit(self, function: Callable[[], T]) -> Future[T]:
        assert self._token is not None
        return self._calls.submit(self._token, function)

    def result(self, future: Future[T]) -> T:
        """The result that the cluster's thread will set on `future`, which is not a call. NotRunningError if
        the thread ends before."""
        if self.is_current and not future.done():
            raise BlockingCallError("this is the cluster's own thread, which would wait for itself")
        self._calls.track(future)
        return future.result()

    async def result_async(self, future: Future[T]) -> T:
        """As `result`."""
        self._calls.track(future)
        return await waiting.result_of(future)

    def _ended(self) -> NotRunningError:
        error = NotRunningError("the cluster has ended" + (" with an error" if self._error else ""))
        error.__cause__ = self._error
        return error

    def _run(self) -> None:
        try:
            trio.run(self._main)
        finally:
            self._calls.end()
            self._tell()

    async def _main(self) -> None:
        try:
            # Whoever stops the cluster is told what failed.
            observer = self._observer or SilentObserver()
            async with serve(observer=observer, **self._options) as served:
                self._token = trio.lowlevel.current_trio_token()
                self._stop = trio.Event()
                self._served, self.reporting = served, served.reporting
                self._up = True
                self._tell()
                if not self._asked_to_stop:
                    await self._stop.wait()
        except BaseException as error:
            self._error = error
        finally:
            self._up = True
            self._tell()

    def _tell(self) -> None:
        for tell in list(self._tells):
            tell()


def _in_brief(error: BaseException) -> BaseException:
    """A user's mistake without the traceback of where the cluster noticed it; any other error without the
    part of the traceback that led to the cluster's thread."""
    cut = of_users if isinstance(error, MockBrokerError) else from_users
    return error.with_traceback(cut(error.__traceback__))
