"""Faults of a running cluster."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Unpack

from ..control import faults
from ..errors import ConflictError, OptionError, WaitTimeoutError
from ..faults import ClientRequest, Fault, FaultError, Faults
from . import waiting
from .calls import Calls
from .waiting import WAIT_S

if TYPE_CHECKING:
    from ..names import FaultAction, FaultFields

__tracebackhide__ = True


class FaultHandle:
    """One fault of a running cluster."""

    def __init__(self, cluster: Calls, fault: Fault) -> None:
        self._cluster = cluster
        self._fault = fault

    @property
    def name(self) -> str:
        """What it was called when it was added; empty if it was given no name."""
        return self._fault.name

    @property
    def hits(self) -> int:
        """How many requests it has acted on."""
        return self._fault.hits

    @property
    def held(self) -> int:
        """How many requests it is holding."""
        return self._fault.held

    @property
    def why(self) -> str:
        """Why it has not fired: which of its conditions no request has met. Empty once it has fired."""
        return self._fault.why

    @property
    def illegal(self) -> str:
        """Why no broker does what this fault does: an error code that Kafka does not give there, answers in
        another order, … Empty if a broker may do so. What depends on the version of a request is known once
        one came."""
        return self._fault.illegal

    def wait(self, hits: int = 1, timeout: float = WAIT_S) -> None:
        """Returns once it has acted on this number of requests.

        WaitTimeoutError after `timeout` seconds, or as soon as it is removed; OptionError for more hits than
        its `times` allows; BlockingCallError where asyncio or trio runs: await `wait_async` there.
        """
        self._cluster._refuse_to_block("fault.wait_async()")
        self._end_wait(waiting.until(self._touched(hits), self._fault.on_hit, timeout), hits, timeout)

    async def wait_async(self, hits: int = 1, timeout: float = WAIT_S) -> None:
        """Like `wait`, under asyncio and trio."""
        done = await waiting.until_async(self._touched(hits), self._fault.on_hit, timeout)
        self._end_wait(done, hits, timeout)

    def wait_held(self, requests: int = 1, timeout: float = WAIT_S) -> None:
        """Returns once it holds this number of requests at the same time.

        ConflictError if it holds none, since it is neither a `hold` nor paused. WaitTimeoutError and
        BlockingCallError as for `wait`.
        """
        self._cluster._refuse_to_block("fault.wait_held_async()")
        self._end_hold(waiting.until(self._holds(requests), self._fault.on_hit, timeout), requests, timeout)

    async def wait_held_async(self, requests: int = 1, timeout: float = WAIT_S) -> None:
        """Like `wait_held`, under asyncio and trio."""
        done = await waiting.until_async(self._holds(requests), self._fault.on_hit, timeout)
        self._end_hold(done, requests, timeout)

    def _touched(self, hits: int) -> Callable[[], bool]:
        fault, times = self._fault, self._fault.match.times
        if times is not None and hits > times:
            raise OptionError(f"{fault} touches {times} requests at most: waiting for {hits} would never end")
        return lambda: fault.hits >= hits or fault.removed

    def _end_wait(self, done: bool, hits: int, timeout: float) -> None:
        fault = self._fault
        if fault.hits < hits:
            raise self._too_few(f"touched {fault.hits} requests, not {hits}", done, timeout)

    def _holds(self, requests: int) -> Callable[[], bool]:
        fault = self._fault
        if not fault.paused:
            raise ConflictError(f"{fault} holds no requests: pause() it first")
        return lambda: fault.held >= requests or fault.removed

    def _end_hold(self, done: bool, requests: int, timeout: float) -> None:
        fault = self._fault
        if not done or fault.removed:
            raise self._too_few(f"held {fault.held} requests, not {requests}", done, timeout)

    def _too_few(self, what: str, done: bool, timeout: float) -> WaitTimeoutError:
        fault = self._fault
        why = f": {fault.why_so_far}" if fault.why_so_far else ""
        return WaitTimeoutError(f"{fault} {what}, {_when(done, timeout)}{why}")

    def pause(self) -> None:
        """Holds every request that matches it, until `release`."""
        self._change(self._fault.pause)

    def release(self) -> None:
        """Lets go of the requests that it holds, and holds none from now on."""
        self._change(self._fault.release)

    def remove(self) -> None:
        """Removes the fault; requests that it holds go on. May be called twice."""
        self._cluster.do(faults.end, self._fault)

    def __enter__(self) -> "FaultHandle":
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def __repr__(self) -> str:
        return f"<fault {self._fault}: {self.why or f'{self.hits} hits'}>"

    def _change(self, change: Callable[[], None]) -> None:
        self._cluster.run_with_faults(lambda _: change())


def _when(removed: bool, timeout: float) -> str:
    return "before it was removed" if removed else f"within {timeout:g} s"


class FaultControl:
    """Makes things go wrong while clients are connected."""

    def __init__(self, cluster: Calls) -> None:
        self._cluster = cluster

    def add(self, do: "FaultAction", **given: "Unpack[FaultFields]") -> FaultHandle:
        """Adds a fault: from now on `do` happens to the requests that `given` describes.

            cluster.faults.add("disconnect", api="Produce", topic="orders", when="after", times=1)

        FaultError, a ValueError, if the fault is not valid.
        """

        def add(rules: Faults) -> FaultHandle:
            return FaultHandle(self._cluster, rules.add(do, **given))

        return self._cluster.run_with_faults(add)

    def call(self, function: Callable[[ClientRequest], None], **given: Any) -> FaultHandle:
        """See `RunningCluster.on`."""

        def add(rules: Faults) -> FaultHandle:
            return FaultHandle(self._cluster, rules.call(function, **given))

        return self._cluster.run_with_faults(add)

    def __getitem__(self, name: str) -> FaultHandle:
        """The fault of that name, as in `MockCluster(faults=[{"name": "lost", ...}])`. KeyError."""
        return FaultHandle(self._cluster, self._cluster.do(lambda target: target.fault(name)))

    def __iter__(self) -> Iterator[FaultHandle]:
        """Those in force, in the order in which they were added."""
        rules = self._cluster.run_with_faults(lambda faults: list(faults.rules))
        return iter([FaultHandle(self._cluster, each) for each in rules])

    def clear(self) -> None:
        """Removes all faults."""
        self._cluster.do(faults.clear)


__all__ = ["FaultControl", "FaultError", "FaultHandle"]
