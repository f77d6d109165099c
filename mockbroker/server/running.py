"""What can be done to a running cluster, in whichever thread it runs."""

from abc import abstractmethod
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Literal

from ..cluster.replicas import Replica, describe
from ..errors import OptionError
from ..faults import ClientRequest
from .clock_control import ClockControl
from .contents import Contents
from .trace_control import TraceControl

if TYPE_CHECKING:
    from ..names import ApiName
    from .fault_control import FaultControl, FaultHandle
    from .policy_control import PolicyControl

__tracebackhide__ = True


class RunningCluster(Contents):
    """The calls that `MockCluster` and the cluster of `serve` have in common."""

    _trace: TraceControl | None = None

    @property
    @abstractmethod
    def bootstrap_servers(self) -> str:
        """`host:port` of every broker as clients are told, comma separated, in the order of their ids."""

    @property
    @abstractmethod
    def listeners(self) -> str:
        """As `bootstrap_servers`, but where brokers listen: another address if one is advertised."""

    @property
    @abstractmethod
    def failures(self) -> list[Exception]:
        """What has failed so far by a bug, the broker's or that of a policy or a listener of your own.

        A RequestFailedError names API, version, client and connection. The end of the cluster's block raises
        what is in the list: clear it if it was to be.
        """

    def hints(self) -> list[str]:
        """What may be the reason when a client gets nothing, the likeliest first. Empty where all is well."""
        from ..control import hints

        return self.do(hints.hints)

    @property
    def policies(self) -> "PolicyControl":
        """The answers in force, which may be changed while clients are connected."""
        from .policy_control import PolicyControl

        return PolicyControl(self)

    @property
    def clock(self) -> ClockControl:
        """The cluster's time, which can be moved."""
        return ClockControl(self)

    @property
    def faults(self) -> "FaultControl":
        """What goes wrong with requests, to be added while clients are connected."""
        from .fault_control import FaultControl

        return FaultControl(self)

    def on(
        self,
        api: "ApiName | int | Collection[ApiName | int] | None",
        function: Callable[[ClientRequest], None],
        *,
        when: Literal["before", "after"] = "before",
        topic: str | None = None,
        partition: int | None = None,
        group: str | None = None,
        transactional_id: str | None = None,
        client_id: str | None = None,
        broker: int | None = None,
        version: int | Collection[int] | None = None,
        nth: int | None = None,
        times: int | None = None,
        probability: float | None = None,
        seed: int | None = None,
        optional: bool = False,
    ) -> "FaultHandle":
        """Calls `function` with each request to come of an API, of several, or of any (None), before its work
        or `after` it, in the cluster's thread; it may look, and say what happens by the request's methods:

            cluster.on("Produce", lambda request: request.error("NOT_LEADER_OR_FOLLOWER"), times=1)

        Which requests is said as of a fault, and it is counted as one. It may call the cluster, and nothing
        that waits. When it raises, the client is answered UNKNOWN_SERVER_ERROR, and the end of the cluster's
        block raises a CallbackError, of which that is the cause. FaultError, a ValueError.
        """
        given = {
            "api": api,
            "when": when,
            "topic": topic,
            "partition": partition,
            "group": group,
            "transactional_id": transactional_id,
            "client_id": client_id,
            "broker": broker,
            "version": version,
            "nth": nth,
            "times": times,
            "probability": probability,
            "seed": seed,
        }
        said = {name: value for name, value in given.items() if value is not None}
        return self.faults.call(function, **said, optional=optional)

    @property
    def trace(self) -> TraceControl:
        """What happens in the cluster: from the first use on, or with `trace=True` from the start."""
        if self._trace is None:
            self.do(lambda target: target.watch())
            self._trace = TraceControl(self, self._target.trace)
        return self._trace

    def stop_broker(self, broker: int) -> None:
        """Takes a broker down: its connections are closed, others lead its partitions. KeyError."""
        from ..control import brokers

        self.do(brokers.stop, broker)

    def kill_broker(self, broker: int) -> None:
        """Ends a broker at once: nobody else leads its partitions until its session has timed out.

        That takes `broker.session.timeout.ms`, with ZooKeeper `zookeeper.session.timeout.ms`. KeyError.
        """
        from ..control import brokers

        self.do(brokers.kill, broker)

    def start_broker(self, broker: int) -> None:
        """Brings a broker back with its logs; after a kill not before its session has timed out. KeyError."""
        from ..control import brokers

        self.do(brokers.start, broker)

    def move_leader(self, topic: str, partition: int, to: int | None = None) -> int:
        """Gives a partition another leader of its ISR: broker `to`, or the next; returns which. ConflictError
        says why none could lead; KeyError."""
        from ..control import partitions

        return self.do(partitions.move_leader, topic, partition, to)["leader"]

    def move_coordinator(
        self, *, group: str | None = None, transactional_id: str | None = None, to: int | None = None
    ) -> int:
        """Gives a group or a transactional id another coordinator: broker `to`, or the next that has its
        records; returns which. ConflictError says why none could; KeyError."""
        from ..control import partitions

        if group is not None:
            return self.do(partitions.move_group, group, to)["leader"]
        if transactional_id is not None:
            return self.do(partitions.move_transactional_id, transactional_id, to)["leader"]
        raise OptionError("whose coordinator? Give group or transactional_id")

    def pause_follower(self, topic: str, partition: int, broker: int) -> None:
        """A follower fetches no more: it leaves the ISR after `replica.lag.time.max.ms`. KeyError."""
        from ..control import partitions

        self.do(partitions.pause_follower, topic, partition, broker)

    def resume_follower(self, topic: str, partition: int, broker: int) -> None:
        """A paused follower fetches again, truncates if need be, and catches up. KeyError."""
        from ..control import partitions

        self.do(partitions.resume_follower, topic, partition, broker)

    def slow_follower(self, topic: str, partition: int, broker: int, delay_ms: int) -> None:
        """Each fetch of a follower, or of a client that stands in for it, takes `delay_ms` from when the
        leader reads to when it answers; `resume_follower` ends that. KeyError."""
        from ..control import partitions

        self.do(partitions.slow_follower, topic, partition, broker, delay_ms)

    def fail_follower(self, topic: str, partition: int, broker: int) -> None:
        """A follower's fetcher dies, alone or with all that its thread fetches (see `fetcher-failure`).

        It stays dead until the next leader epoch, or until its broker starts again. KeyError.
        """
        from ..control import partitions

        self.do(partitions.fail_follower, topic, partition, broker)

    def cut_off(self, broker: int, *, from_: Collection[int | str] | None = None) -> None:
        """Cuts a broker off: from all others and the controller, or from those in `from_`, broker ids and
        `"controller"`.

        Cut off from the controller it goes on leading, as far as it knows, for the clients that reach it;
        once `broker.session.timeout.ms` (`zookeeper.session.timeout.ms` before 2.8) is over, others lead.
        KeyError.
        """
        from ..control import brokers

        self.do(brokers.cut_off, broker, None if from_ is None else list(from_))

    def rejoin(self, broker: int) -> None:
        """Ends what `cut_off` began: the broker hears who leads, truncates, and catches up. KeyError."""
        from ..control import brokers

        self.do(brokers.rejoin, broker)

    def replicas(self, topic: str, partition: int) -> list[Replica]:
        """What each replica holds now, and how it follows. KeyError."""
        return self.do(lambda target: describe(target.partition(topic, partition)))
