"""Faults of a running cluster."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ..control import faults
from ..errors import WaitTimeoutError
from ..faults import Fault, FaultError, Faults

if TYPE_CHECKING:
    from .running import RunningCluster

WAIT_S: Final = 30.0


class FaultHandle:
    """One fault of a running cluster."""

    def __init__(self, cluster: "RunningCluster", fault: Fault) -> None:
        self._cluster = cluster
        self._fault = fault
        self._hit = threading.Condition()
        fault.on_hit.append(self._wake)

    @property
    def hits(self) -> int:
        """How many requests it touched."""
        return self._fault.hits

    @property
    def held(self) -> int:
        """How many requests it holds just now."""
        return self._fault.held

    def wait(self, hits: int = 1, timeout: float = WAIT_S) -> None:
        """Returns once it has touched so many requests. TimeoutError after `timeout` seconds."""
        with self._hit:
            if not self._hit.wait_for(lambda: self._fault.hits >= hits, timeout):
                raise WaitTimeoutError(f"{self._fault} touched {self._fault.hits} requests, not {hits}")

    def pause(self) -> None:
        """Holds every request that it is for, until `release`."""
        self._change(self._fault.pause)

    def release(self) -> None:
        """Lets the requests go that it holds, and holds none from now on."""
        self._change(self._fault.release)

    def remove(self) -> None:
        """Ends it; requests that it holds go on. Fine to call twice."""
        self._cluster.do(faults.end, self._fault)

    def __enter__(self) -> "FaultHandle":
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def __repr__(self) -> str:
        return f"<fault {self._fault}: {self._fault.hits} hits>"

    def _change(self, change: Callable[[], None]) -> None:
        self._cluster.run_with_faults(lambda _: change())

    def _wake(self) -> None:
        with self._hit:
            self._hit.notify_all()


class FaultControl:
    """Makes things go wrong while clients are connected."""

    def __init__(self, cluster: "RunningCluster") -> None:
        self._cluster = cluster

    def add(self, do: str, **given: Any) -> FaultHandle:
        """From now on `do` happens to the requests that `given` describes, before the work or after it:

            cluster.faults.add("disconnect", api="Produce", topic="orders", when="after", times=1)

        FaultError, a ValueError, says what is wrong with it.
        """

        def add(rules: Faults) -> FaultHandle:
            return FaultHandle(self._cluster, rules.add(do, **given))

        return self._cluster.run_with_faults(add)

    def __getitem__(self, name: str) -> FaultHandle:
        """The fault of that name, as in `MockCluster(faults=[{"name": "lost", ...}])`. KeyError."""
        return FaultHandle(self._cluster, self._cluster.do(lambda target: target.fault(name)))

    def clear(self) -> None:
        """Ends all of them."""
        self._cluster.do(faults.clear)


__all__ = ["FaultControl", "FaultError", "FaultHandle"]
