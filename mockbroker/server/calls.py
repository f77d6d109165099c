"""How a running cluster is called, whichever thread it runs in."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from ..cluster.cluster import Cluster
from ..faults import Faults
from ..trace import Trace
from .waiting import refuse_in_event_loop

if TYPE_CHECKING:
    from concurrent.futures import Future

    # What most programs don't do with a cluster should not take time to import.
    from ..control.target import Target

__tracebackhide__ = True

T = TypeVar("T")


class Calls(ABC):
    """The calls on which everything that can be done to a running cluster is built."""

    @property
    @abstractmethod
    def _target(self) -> "Target":
        """The cluster that operations act on. NotRunningError."""

    @abstractmethod
    def _call(self, function: Callable[[], T]) -> T:
        """Calls `function` in the cluster's thread and returns its result."""

    @abstractmethod
    async def _call_async(self, function: Callable[[], T]) -> T:
        """As `_call`, under asyncio or trio; other tasks run meanwhile."""

    def _refuse_to_block(self, instead: str) -> None:
        """BlockingCallError if the call would block the thread in which the awaited thing would have to
        happen."""
        refuse_in_event_loop(instead)

    def run(self, function: Callable[[Cluster], T]) -> T:
        """Calls `function` with the cluster's internals, in the cluster's own thread, and returns its result.

        Internals change without notice; `records`, `topics`, `groups` and other public methods do not.
        """
        return self.do(lambda target: function(target.cluster))

    def run_with_trace(self, function: Callable[[Trace], T]) -> T:
        """As `run`, with the trace, whether or not it has begun."""
        trace = self._target.trace
        return self.run(lambda _: function(trace))

    def run_with_faults(self, function: Callable[[Faults], T]) -> T:
        """As `run`, with the faults."""
        faults = self._target.faults
        return self.run(lambda _: function(faults))

    def do(self, operation: Callable[..., T], *args: Any, **named: Any) -> T:
        """Calls an operation of `mockbroker.control` that does not wait."""
        target = self._target
        return self._call(lambda: target.do(operation, *args, **named))

    async def _do_async(self, operation: Callable[..., T], *args: Any, **named: Any) -> T:
        target = self._target
        return await self._call_async(lambda: target.do(operation, *args, **named))

    @abstractmethod
    def _result(self, future: "Future[T]") -> T:
        """The result of `future`, which may have to be waited for."""

    @abstractmethod
    async def _result_async(self, future: "Future[T]") -> T:
        """As `_result`, under asyncio or trio."""
