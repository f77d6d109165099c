"""The cluster that operations act on."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ..duration import Duration
from ..errors import ConflictError, NotThereError
from ..nearest import nearest
from ..verbs import finding

if TYPE_CHECKING:
    from starlette.requests import Request

    from ..cluster.broker import Broker
    from ..cluster.cluster import Cluster
    from ..cluster.topic import Topic, TopicPartition
    from ..faults import Fault, Faults
    from ..trace import Trace
    from .access import Access

T = TypeVar("T")

IN_SCOPE: Final = "mockbroker.target"
"""What a request's scope has it as: one application, which is dear to make, serves all that are lent."""


class Target:
    """A running cluster; to be used in the trio thread only.

    `poke` brings the cluster up to the present time, and sends the answers that are due; `advance` moves its
    clock; `watch` begins the trace; `without_port` has the brokers that wait until their port is free, each
    with a message that says so; `access` tells how clients reach it.
    """

    def __init__(
        self,
        cluster: "Cluster",
        faults: "Faults",
        trace: "Trace",
        bootstrap_servers: str,
        poke: Callable[[], None],
        advance: Callable[[Duration], None],
        watch: Callable[[], None],
        without_port: dict[int, str] | None = None,
        *,
        manual_clock: bool = False,
        access: Callable[[], "Access"] | None = None,
    ) -> None:
        self.cluster = cluster
        self.faults = faults
        self.trace = trace
        self.bootstrap_servers = bootstrap_servers
        self.advance = advance
        self.watch = watch
        self.poke = poke
        self.manual_clock = manual_clock
        self._access = access
        self.without_port = {} if without_port is None else without_port
        self.trace_readers = 0
        """How many clients follow its trace over HTTP."""
        self._names: dict[str, Fault] = {}
        self._numbers = 0

    @property
    def access(self) -> "Access":
        """How clients reach the cluster and log in. NotThereError for one without sockets."""
        if self._access is None:
            raise NotThereError("this cluster has no listeners")
        return self._access()

    def do(self, function: Callable[..., T], *args: Any, **named: Any) -> T:
        """Calls `function` with this target, at the present time of the cluster."""
        self.poke()
        try:
            return function(self, *args, **named)
        finally:
            self.poke()

    def broker(self, broker: int) -> "Broker":
        """NotThereError."""
        return finding.find_broker(self.cluster, broker)

    def topic(self, name: str) -> "Topic":
        """NotThereError."""
        return finding.find_topic(self.cluster, name)

    def partition(self, topic: str, index: int) -> "TopicPartition":
        """NotThereError."""
        return finding.find_partition(self.cluster, topic, index)

    def named_faults(self) -> "dict[str, Fault]":
        """All faults, by name; one that was given no name has a number."""
        rules = self.faults.rules
        for name, fault in list(self._names.items()):
            if fault not in rules:
                del self._names[name]
        for fault in rules:
            if fault not in self._names.values():
                self._names[self._next_number()] = fault
        return self._names

    def fault(self, name: str) -> "Fault":
        """NotThereError."""
        faults = self.named_faults()
        if name not in faults:
            raise NotThereError(f"no fault named {name!r}{nearest(name, faults)}")
        return faults[name]

    def add_fault(self, name: str | None, do: str | None, given: dict[str, Any]) -> str:
        """Its name. FaultError; ConflictError for a name that another fault has."""
        if name is not None and name in self.named_faults():
            raise ConflictError(f"there is already a fault named {name!r}: choose another name")
        fault = self.faults.add(do, **given)
        if name is None:
            name = self._next_number()
        else:
            fault.name = name
        self._names[name] = fault
        return name

    def _next_number(self) -> str:
        while True:
            self._numbers += 1
            if str(self._numbers) not in self._names:
                return str(self._numbers)


def target_of(request: "Request") -> Target:
    """The cluster that a request of the control API is for."""
    found: Target = request.scope[IN_SCOPE]
    return found
