"""A cluster on real sockets: in a trio program (`serve`), or in a thread of its own (`MockCluster`)."""

import contextlib
import random
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, TypeVar

import trio

from ..cluster import controller
from ..cluster.cluster import Cluster
from ..cluster.follower import FollowerState
from ..cluster.partition import Partition
from ..policies import Policies
from ..protocol import releases
from .observer import Observer, SilentObserver
from .options import Options
from .pump import Pump

T = TypeVar("T")


class ServedCluster:
    """A cluster that listens. `cluster` is its core; touch it from the trio thread only."""

    def __init__(self, options: Options, observer: Observer) -> None:
        release = releases.parse(options.kafka)
        seed = options.seed if options.seed is not None else random.SystemRandom().getrandbits(64)
        self.options = options
        self.cluster = Cluster(
            release,
            random.Random(seed),
            brokers=options.brokers,
            config=options.config,
            policies=Policies(release, options.policies),
            now_ms=int(time.time() * 1000),
        )
        self.pump = Pump(self.cluster, observer)
        try:
            self._listen()
        except BaseException:
            self.pump.close()
            raise
        for name, partitions in options.topics.items():
            self.cluster.create_topic(name, self.cluster.assign_replicas(partitions, 1))

    @property
    def bootstrap_servers(self) -> str:
        """`host:port` of every broker, comma separated, in the order of their ids."""
        return ",".join(f"{b.host}:{b.port}" for b in self.cluster.brokers.values())

    def _listen(self) -> None:
        for number, broker in enumerate(self.cluster.brokers.values()):
            port = self.options.port + number if self.options.port else 0
            broker.host, broker.port = self.options.host, port
            self.pump.listen(broker)


def _partition(core: Cluster, topic: str, index: int) -> Partition:
    found = core.partition(topic, index)
    if found is None:
        raise KeyError(f"no partition {topic}-{index}")
    return found


@contextlib.asynccontextmanager
async def serve(
    *,
    kafka: str = releases.NEWEST,
    brokers: int = 3,
    host: str = "127.0.0.1",
    port: int = 0,
    config: Mapping[str, str] | None = None,
    policies: Mapping[str, str] | None = None,
    topics: Mapping[str, int] | None = None,
    seed: int | None = None,
    observer: Observer | None = None,
) -> AsyncIterator[ServedCluster]:
    """Serves a cluster inside a trio program for as long as the block lasts.

    ValueError for an unknown release, config or policy; PortInUseError.
    """
    options = Options(kafka, brokers, host, port, config or {}, policies or {}, topics or {}, seed)
    served = ServedCluster(options, observer or SilentObserver())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(served.pump.run)
        try:
            yield served
        finally:
            nursery.cancel_scope.cancel()


class MockCluster:
    """A cluster in a thread of its own, for any code, synchronous or asyncio.

    `with MockCluster(kafka="3.9") as cluster: connect(cluster.bootstrap_servers)`. Takes what `serve` takes.
    """

    def __init__(self, **options: Any) -> None:
        self._options = options
        self._served: ServedCluster | None = None
        self._error: BaseException | None = None
        self._up = threading.Event()
        self._thread: threading.Thread | None = None
        self._token: trio.lowlevel.TrioToken | None = None
        self._stop: trio.Event | None = None

    @property
    def bootstrap_servers(self) -> str:
        """`host:port` of every broker, comma separated."""
        return self._running().bootstrap_servers

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

    def stop(self) -> None:
        """Closes every connection and returns when the thread has ended; fine to call twice.

        Raises what made the cluster fail, if it did.
        """
        if self._thread is None or self._token is None or self._stop is None:
            return
        with contextlib.suppress(trio.RunFinishedError):
            self._token.run_sync_soon(self._stop.set)
        self._thread.join()
        self._served = None
        if self._error is not None:
            raise self._error

    def run(self, function: Callable[[Cluster], T]) -> T:
        """Calls `function` with the core in the cluster's own thread, and gives what it returns."""
        served = self._running()

        def call() -> T:
            try:
                return function(served.cluster)
            finally:
                served.pump.poke()

        return trio.from_thread.run_sync(call, trio_token=self._token)

    def stop_broker(self, broker: int) -> None:
        """Takes a broker down: its connections are closed, others lead its partitions. KeyError."""
        self.run(lambda core: controller.stop_broker(core, broker))

    def kill_broker(self, broker: int) -> None:
        """Ends a broker at once: nobody else leads its partitions until its session has timed out.

        That takes `broker.session.timeout.ms`, with ZooKeeper `zookeeper.session.timeout.ms`. KeyError.
        """
        self.run(lambda core: controller.kill_broker(core, broker))

    def start_broker(self, broker: int) -> None:
        """Brings a broker back with its logs; after a kill not before its session has timed out. KeyError."""
        self.run(lambda core: controller.start_broker(core, broker))

    def pause_follower(self, topic: str, partition: int, broker: int) -> None:
        """A follower fetches no more: it leaves the ISR after `replica.lag.time.max.ms`. KeyError."""
        self.run(lambda core: _partition(core, topic, partition).set_follower(broker, FollowerState.PAUSED))

    def resume_follower(self, topic: str, partition: int, broker: int) -> None:
        """A paused follower fetches again, truncates if need be, and catches up. KeyError."""
        self.run(lambda core: _partition(core, topic, partition).set_follower(broker, FollowerState.BEHIND))

    def __enter__(self) -> "MockCluster":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _running(self) -> ServedCluster:
        if self._served is None:
            raise RuntimeError("the cluster does not run: use it in a with block, or call start() first")
        return self._served

    async def _main(self) -> None:
        try:
            async with serve(**self._options) as served:
                self._token = trio.lowlevel.current_trio_token()
                self._stop = trio.Event()
                self._served = served
                self._up.set()
                await self._stop.wait()
        except BaseException as error:
            self._error = error
        finally:
            self._up.set()
