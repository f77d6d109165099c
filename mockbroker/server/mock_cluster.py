"""A cluster in a thread of its own, for programs that know nothing of trio."""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from ..control.errors import ConflictError
from ..errors import UnknownOptionError
from ..nearest import nearest
from .cluster_thread import ClusterThread
from .running import RunningCluster
from .serving import ServedCluster, serve

T = TypeVar("T")


class MockCluster(RunningCluster):
    """A cluster in a thread of its own, for any code, synchronous or asyncio.

    `with MockCluster(kafka="3.9") as cluster: connect(cluster.bootstrap_servers)`. Takes what `serve` takes.
    """

    def __init__(self, **options: Any) -> None:
        """UnknownOptionError."""
        known = inspect.signature(serve).parameters
        for name in options:
            if name not in known:
                raise UnknownOptionError(f"MockCluster has no option {name!r}{nearest(name, known)}")
        self._thread = ClusterThread(options)

    @property
    def _served(self) -> ServedCluster:
        return self._thread.served

    def _call(self, function: Callable[[], T]) -> T:
        return self._thread.call(function)

    @property
    def bootstrap_servers(self) -> str:
        """`host:port` of every broker, comma separated."""
        return self._served.bootstrap_servers

    @property
    def seed(self) -> int:
        """With it, the ids of another cluster are the same."""
        return self._served.seed

    @property
    def control_url(self) -> str:
        """Where the control API is, for programs in any language. ConflictError if it was not asked for."""
        url = self._served.control_url
        if url is None:
            raise ConflictError("this cluster has no control API: make it with control=True")
        return url

    def start(self) -> "MockCluster":
        """Returns once every broker listens. Raises what `serve` raises."""
        self._thread.start()
        return self

    def stop(self, *, raise_failures: bool = True) -> None:
        """Closes every connection and returns when the thread has ended; fine to call twice.

        Raises what failed in the cluster meanwhile (see `failures`), an ExceptionGroup of several, once.
        """
        self._thread.stop()
        if raise_failures and self._thread.reporting is not None:
            self._thread.reporting.raise_failures()

    @property
    def failures(self) -> list[Exception]:
        """What has failed so far by a bug, the broker's or that of a policy or a listener of your own.

        A RequestFailedError names API, version, client and connection. `stop` raises what is in the list:
        clear it if it was to be.
        """
        return [] if self._thread.reporting is None else self._thread.reporting.failures

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._thread}>"

    def __enter__(self) -> "MockCluster":
        return self.start()

    def __exit__(self, _: object, error: BaseException | None, *__: object) -> None:
        try:
            self.stop()
        except Exception as failure:
            if error is None:
                raise
            # What the block raised comes first.
            error.add_note(f"In the mock cluster: {failure}")
            for each in failure.exceptions if isinstance(failure, ExceptionGroup) else ():
                error.add_note(f"In the mock cluster: {each}")
