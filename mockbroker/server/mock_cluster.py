"""A cluster in a thread of its own, for programs that don't use trio."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, TypeVar, Unpack

from ..cluster_options import ClusterOptions, check_names
from ..errors import BlockingCallError, ConflictError
from .cluster_thread import ClusterThread
from .observer import Observer
from .reporting import noted_on
from .running import RunningCluster

if TYPE_CHECKING:
    from ..control.target import Target

__tracebackhide__ = True

T = TypeVar("T")


class MockCluster(RunningCluster):
    """A cluster in a thread of its own, for any program.

    `with MockCluster(kafka="3.9") as cluster: connect(cluster.bootstrap_servers)`, or `async with` under
    asyncio and trio. It takes the same options as `serve`, and its methods may be called from any thread.
    Methods that wait for clients have a second form to be awaited, such as `fault.wait_async()`.
    """

    def __init__(self, *, observer: Observer | None = None, **options: Unpack[ClusterOptions]) -> None:
        """UnknownOptionError."""
        check_names(options, "MockCluster")
        self._thread = ClusterThread(options, observer)

    @property
    def _target(self) -> "Target":
        return self._thread.served.target

    def _call(self, function: Callable[[], T]) -> T:
        return self._thread.call(function)

    async def _call_async(self, function: Callable[[], T]) -> T:
        return await self._thread.call_async(function)

    def _refuse_to_block(self, instead: str) -> None:
        if self._thread.is_current:
            raise BlockingCallError("this is the cluster's own thread, which would wait for itself")
        super()._refuse_to_block(instead)

    def _result(self, future: Future[T]) -> T:
        return self._thread.result(future)

    async def _result_async(self, future: Future[T]) -> T:
        return await self._thread.result_async(future)

    @property
    def bootstrap_servers(self) -> str:
        return self._thread.served.bootstrap_servers

    @property
    def listeners(self) -> str:
        return self._thread.served.listeners

    @property
    def seed(self) -> int:
        """The seed; a cluster with the same seed has the same ids."""
        return self._thread.served.seed

    @property
    def control_url(self) -> str:
        """The address of the control API. ConflictError if the cluster was made without one."""
        url = self._thread.served.control_url
        if url is None:
            raise ConflictError("this cluster has no control API: make it with control=True")
        return url

    @property
    def console_url(self) -> str:
        """The address of the page that shows the cluster. ConflictError if it was made without one."""
        url = self._thread.served.console_url
        if url is None:
            raise ConflictError("this cluster has no console: make it with console=True")
        return url

    def start(self) -> "MockCluster":
        """Returns once every broker listens. Raises what `serve` raises."""
        self._thread.start()
        return self

    async def start_async(self) -> "MockCluster":
        """Like `start`; other tasks run meanwhile."""
        await self._thread.start_async()
        return self

    def stop(self, *, raise_failures: bool = True) -> None:
        """Closes every connection and returns when the thread has ended. May be called twice.

        Raises, once, what has failed in the cluster (see `failures`); an ExceptionGroup if there are several.
        """
        self._thread.stop()
        if raise_failures:
            self._raise_failures()

    async def stop_async(self, *, raise_failures: bool = True) -> None:
        """Like `stop`; other tasks run meanwhile."""
        await self._thread.stop_async()
        if raise_failures:
            self._raise_failures()

    def _raise_failures(self) -> None:
        if self._thread.reporting is not None:
            self._thread.reporting.raise_failures()

    @property
    def failures(self) -> list[Exception]:
        return [] if self._thread.reporting is None else self._thread.reporting.failures

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._thread}>"

    def __enter__(self) -> "MockCluster":
        return self.start()

    def __exit__(self, _: object, error: BaseException | None, *__: object) -> None:
        with noted_on(error):
            self.stop()

    async def __aenter__(self) -> "MockCluster":
        return await self.start_async()

    async def __aexit__(self, _: object, error: BaseException | None, *__: object) -> None:
        with noted_on(error):
            await self.stop_async()
