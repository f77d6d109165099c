"""A cluster in a thread of its own, for programs that know nothing of trio."""

import contextlib
import inspect
import threading
from collections.abc import Callable, Collection
from concurrent.futures import Future, wait
from typing import Any, Final, TypeVar

import trio

from ..cluster.cluster import Cluster
from ..cluster.replicas import Replica, describe
from ..control import brokers, partitions, policies
from ..faults import Faults
from ..nearest import nearest
from ..trace import Trace
from .clock import ClockControl
from .fault_control import FaultControl
from .reporting import Reporting
from .serving import ServedCluster, serve
from .trace_control import TraceControl

T = TypeVar("T")
_LOOK_SECONDS: Final = 1.0
"""How often a caller looks whether the cluster's thread is still there."""


class MockCluster:
    """A cluster in a thread of its own, for any code, synchronous or asyncio.

    `with MockCluster(kafka="3.9") as cluster: connect(cluster.bootstrap_servers)`. Takes what `serve` takes.
    """

    def __init__(self, **options: Any) -> None:
        """TypeError for an option that there is not."""
        known = inspect.signature(serve).parameters
        for name in options:
            if name not in known:
                raise TypeError(f"MockCluster has no option {name!r}{nearest(name, known)}")
        self._options = options
        self._served: ServedCluster | None = None
        self._reporting: Reporting | None = None
        self._error: BaseException | None = None
        self._up = threading.Event()
        self._thread: threading.Thread | None = None
        self._token: trio.lowlevel.TrioToken | None = None
        self._stop: trio.Event | None = None
        self._trace: TraceControl | None = None

    @property
    def bootstrap_servers(self) -> str:
        """`host:port` of every broker, comma separated."""
        return self._running().bootstrap_servers

    @property
    def seed(self) -> int:
        """With it, the ids of another cluster are the same."""
        return self._running().seed

    @property
    def control_url(self) -> str:
        """Where the control API is, for programs in any language. RuntimeError if it was not asked for."""
        url = self._running().control_url
        if url is None:
            raise RuntimeError("this cluster has no control API: make it with control=True")
        return url

    def start(self) -> "MockCluster":
        """Returns once every broker listens. Raises what `serve` raises."""
        if self._thread is not None:
            raise RuntimeError("this cluster was started already: make a new MockCluster")
        self._thread = threading.Thread(target=trio.run, args=(self._main,), name="mockbroker", daemon=True)
        self._thread.start()
        self._up.wait()
        if self._error is not None:
            self._thread.join()
            raise self._error
        return self

    def stop(self, *, raise_failures: bool = True) -> None:
        """Closes every connection and returns when the thread has ended; fine to call twice.

        Raises what failed in the cluster meanwhile (see `failures`), an ExceptionGroup of several, once.
        """
        if self._thread is None or self._token is None or self._stop is None:
            return
        with contextlib.suppress(trio.RunFinishedError):
            self._token.run_sync_soon(self._stop.set)
        self._thread.join()
        self._served = None
        if self._error is not None:
            raise self._error
        if raise_failures and self._reporting is not None:
            self._reporting.raise_failures()

    @property
    def failures(self) -> list[Exception]:
        """What has failed so far by a bug, the broker's or that of a policy or a listener of your own.

        A RequestFailedError names API, version, client and connection. `stop` raises what is in the list:
        clear it if it was to be.
        """
        return [] if self._reporting is None else self._reporting.failures

    def run(self, function: Callable[[Cluster], T]) -> T:
        """Calls `function` with the core in the cluster's own thread, and gives what it returns.

        May be called in any other thread, one that runs trio too.
        """
        target = self._running().target
        return self._in_its_thread(lambda: target.do(lambda _: function(target.cluster)))

    def run_with_trace(self, function: Callable[[Trace], T]) -> T:
        """As `run`, with the trace, whether it was begun or not."""
        trace = self._running().trace
        return self.run(lambda _: function(trace))

    def run_with_faults(self, function: Callable[[Faults], T]) -> T:
        """As `run`, with the faults."""
        faults = self._running().faults
        return self.run(lambda _: function(faults))

    def do(self, operation: Callable[..., T], *args: Any, **named: Any) -> T:
        """Calls an operation of `mockbroker.control` that does not wait."""
        target = self._running().target
        return self._in_its_thread(lambda: target.do(operation, *args, **named))

    def _in_its_thread(self, call: Callable[[], T]) -> T:
        thread, token = self._thread, self._token
        assert thread is not None
        assert token is not None
        if thread is threading.current_thread():
            raise RuntimeError("this is the cluster's own thread: use what the function was given")
        result: Future[T] = Future()

        def answer() -> None:
            try:
                result.set_result(call())
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

    @property
    def policies(self) -> "PolicyControl":
        """The answers in force, which may be changed while clients are connected."""
        return PolicyControl(self)

    @property
    def clock(self) -> ClockControl:
        """The cluster's time, which can be moved."""
        return ClockControl(self)

    @property
    def faults(self) -> FaultControl:
        """What goes wrong with requests, to be added while clients are connected."""
        return FaultControl(self)

    @property
    def trace(self) -> TraceControl:
        """What happens in the cluster: from the first use on, or with `trace=True` from the start."""
        if self._trace is None:
            pump = self._running().pump
            self.run(lambda _: pump.watch())
            self._trace = TraceControl(self, pump.trace)
        return self._trace

    def stop_broker(self, broker: int) -> None:
        """Takes a broker down: its connections are closed, others lead its partitions. KeyError."""
        self.do(brokers.stop, broker)

    def kill_broker(self, broker: int) -> None:
        """Ends a broker at once: nobody else leads its partitions until its session has timed out.

        That takes `broker.session.timeout.ms`, with ZooKeeper `zookeeper.session.timeout.ms`. KeyError.
        """
        self.do(brokers.kill, broker)

    def start_broker(self, broker: int) -> None:
        """Brings a broker back with its logs; after a kill not before its session has timed out. KeyError."""
        self.do(brokers.start, broker)

    def move_leader(self, topic: str, partition: int, to: int | None = None) -> int:
        """Gives a partition another leader of its ISR: broker `to`, or the next; returns which. ConflictError
        says why none could lead; KeyError."""
        return self.do(partitions.move_leader, topic, partition, to)["leader"]

    def move_coordinator(
        self, *, group: str | None = None, transactional_id: str | None = None, to: int | None = None
    ) -> int:
        """Gives a group or a transactional id another coordinator: broker `to`, or the next that has its
        records; returns which. ConflictError says why none could; KeyError."""
        if group is not None:
            return self.do(partitions.move_group, group, to)["leader"]
        if transactional_id is not None:
            return self.do(partitions.move_transactional_id, transactional_id, to)["leader"]
        raise ValueError("whose coordinator? Give group or transactional_id")

    def pause_follower(self, topic: str, partition: int, broker: int) -> None:
        """A follower fetches no more: it leaves the ISR after `replica.lag.time.max.ms`. KeyError."""
        self.do(partitions.pause_follower, topic, partition, broker)

    def resume_follower(self, topic: str, partition: int, broker: int) -> None:
        """A paused follower fetches again, truncates if need be, and catches up. KeyError."""
        self.do(partitions.resume_follower, topic, partition, broker)

    def slow_follower(self, topic: str, partition: int, broker: int, delay_ms: int) -> None:
        """Each fetch of a follower, or of a client that stands in for it, takes `delay_ms` from when the
        leader reads to when it answers; `resume_follower` ends that. KeyError."""
        self.do(partitions.slow_follower, topic, partition, broker, delay_ms)

    def fail_follower(self, topic: str, partition: int, broker: int) -> None:
        """A follower's fetcher dies, alone or with all that its thread fetches (see `fetcher-failure`).

        It stays dead until the next leader epoch, or until its broker starts again. KeyError.
        """
        self.do(partitions.fail_follower, topic, partition, broker)

    def cut_off(self, broker: int, *, from_: Collection[int | str] | None = None) -> None:
        """Cuts a broker off: from all others and the controller, or from those in `from_`, broker ids and
        `"controller"`.

        Cut off from the controller it goes on leading, as far as it knows, for the clients that reach it;
        once `broker.session.timeout.ms` (`zookeeper.session.timeout.ms` before 2.8) is over, others lead.
        KeyError.
        """
        self.do(brokers.cut_off, broker, None if from_ is None else list(from_))

    def rejoin(self, broker: int) -> None:
        """Ends what `cut_off` began: the broker hears who leads, truncates, and catches up. KeyError."""
        self.do(brokers.rejoin, broker)

    def replicas(self, topic: str, partition: int) -> list[Replica]:
        """What each replica holds now, and how it follows. KeyError."""
        return self.do(lambda target: describe(target.partition(topic, partition)))

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

    def _running(self) -> ServedCluster:
        if self._served is None:
            raise RuntimeError("the cluster does not run: use it in a with block, or call start() first")
        return self._served

    def _ended(self) -> RuntimeError:
        return RuntimeError("the cluster has ended" + (" by an error" if self._error else ""))

    async def _main(self) -> None:
        try:
            async with serve(**self._options) as served:
                self._token = trio.lowlevel.current_trio_token()
                self._stop = trio.Event()
                self._served, self._reporting = served, served.reporting
                self._up.set()
                await self._stop.wait()
        except BaseException as error:
            self._error = error
        finally:
            self._up.set()


class PolicyControl:
    """Changes the behaviour of a running cluster: everywhere, for a topic, on a broker, or both.

    UnknownPolicyError for a behaviour, an answer or a broker that does not exist; nothing is changed then.
    """

    def __init__(self, cluster: MockCluster) -> None:
        self._cluster = cluster

    def set(self, name: str, answer: Any, *, topic: str | None = None, broker: int | None = None) -> None:
        """Gives behaviour `name` another answer, from the next request on."""
        self._cluster.do(policies.set_answer, name, answer, topic, broker)

    def reset(self, name: str, *, topic: str | None = None, broker: int | None = None) -> None:
        """Takes back what was set for just this scope."""
        self._cluster.do(policies.reset, name, topic, broker)

    def answer(self, name: str, *, topic: str | None = None, broker: int | None = None) -> str:
        """The name of the answer in force."""
        return self._cluster.run(lambda core: core.policies.answer(name, topic=topic, broker=broker))
