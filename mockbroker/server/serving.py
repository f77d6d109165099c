"""A cluster on real sockets, inside a trio program, or in a process that does nothing else."""

import contextlib
import functools
import random
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar, Unpack

from .. import repeats
from ..addresses import joined
from ..cluster.cluster import Cluster
from ..cluster.endpoint import Endpoint
from ..cluster_options import ClusterOptions
from ..configs.values import OF_LISTENER
from ..controller.topic_creation import assign_replicas
from ..environment import Environment
from ..errors import BlockingCallError, WrongEventLoopError
from ..policies import Policies
from ..protocol import releases
from ..security import Security
from ..seeded import streams
from . import restoring
from .advertised import addresses
from .capture import Capture
from .listening import listen
from .observer import Observer, SilentObserver
from .options import REQUESTS, Options
from .pump import Pump
from .reporting import Reporting, noted_on
from .running import RunningCluster
from .start_time import start_ms
from .waiting import result_of

if TYPE_CHECKING:
    from concurrent.futures import Future

    import trio

    from ..control.access import Access
    from ..control.target import Target
    from .secured import Secured

T = TypeVar("T")

_REPLICAS: Final = 3
"""How many replicas the topics have that are created with the cluster, if it has that many brokers."""


class ServedCluster(RunningCluster):
    """A cluster on real sockets. May only be used in trio's thread."""

    def __init__(self, options: Options, observer: Observer) -> None:
        release = releases.parse(options.kafka)
        self.seed = options.seed if options.seed is not None else random.SystemRandom().getrandbits(64)
        self.options = options
        self.control_url: str | None = None
        """The address of the control API, if there is one."""
        self.control_token = options.control_token
        policies = Policies(release, options.policies, fixed=options.fixed)
        self.offsets = restoring.found(options.offsets)
        """What was found in the files of an offsets topic, if there are any."""
        config, wall_ms, last_ms = options.config, int(time.time() * 1000), -1
        if self.offsets is not None:
            config, last_ms = restoring.config_for(self.offsets, config), self.offsets.end_ms
        self.started_ms = start_ms(options.now, wall_ms, last_ms)
        if self.started_ms < wall_ms:
            config = restoring.accepting_later(config, release)
        security = options.security if isinstance(options.security, Security) else Security()
        config = security.config(config)
        if any(each.startswith(OF_LISTENER) for each in config):
            from ..configs.listeners import check_names

            check_names(config, security.protocols)
        environment = Environment(
            release, streams(self.seed), config=config, policies=policies, now_ms=self.started_ms
        )
        self.cluster = Cluster(environment, brokers=options.brokers, racks=options.racks)
        self._thread = threading.get_ident()
        self._control: socket.socket | None = None
        self.secured: Secured | None = None
        """What its listeners need, if there is security."""
        self.reporting = Reporting(observer)
        self.pump = Pump(self.cluster, self.reporting, manual_clock=options.clock == "manual")
        try:
            self._listen()
            self._prepare()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Closes all sockets, and removes files that are not kept."""
        self.pump.close()
        if self.secured is not None:
            self.secured.close()

    def __str__(self) -> str:
        """Its release, its number of brokers, and their addresses."""
        brokers = f"{len(self.cluster.brokers)} broker" + "s" * (len(self.cluster.brokers) != 1)
        return f"Kafka {self.cluster.release}, {brokers}, {self.bootstrap_servers}"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"

    def _call(self, function: Callable[[], T]) -> T:
        if threading.get_ident() != self._thread:
            raise WrongEventLoopError(
                "the cluster runs in trio's thread: call it from there, with trio.from_thread.run_sync"
            )
        return function()

    async def _call_async(self, function: Callable[[], T]) -> T:
        import trio

        await trio.lowlevel.checkpoint()
        return self._call(function)

    def _result(self, future: "Future[T]") -> T:
        if not future.done():
            raise BlockingCallError(
                "the leader has done it, but followers have not yet, and waiting for them here would stop "
                "the cluster: await the method whose name ends in _async"
            )
        return future.result()

    async def _result_async(self, future: "Future[T]") -> T:
        return await result_of(future)

    @property
    def bootstrap_servers(self) -> str:
        return _servers(each.endpoint for each in self.cluster.brokers.values())

    @property
    def listeners(self) -> str:
        return ",".join(joined(*each.endpoint.listens_on) for each in self.cluster.brokers.values())

    @property
    def failures(self) -> list[Exception]:
        return self.reporting.failures

    @property
    def target(self) -> "Target":
        """The cluster as control operations see it."""
        return self._target

    @functools.cached_property
    def _target(self) -> "Target":
        from ..control.target import Target

        pump = self.pump
        return Target(
            self.cluster,
            pump.faults,
            pump.trace,
            self.bootstrap_servers,
            pump.poke,
            pump.clock.advance,
            pump.watch,
            pump.listeners.without_port,
            manual_clock=pump.clock.manual,
            access=self._access,
        )

    def _access(self) -> "Access":
        from ..control.access import Access, Listener

        brokers = self.cluster.brokers.values()
        listeners = tuple(
            Listener(name, protocol, _servers(each.endpoints[name] for each in brokers))
            for name, protocol in self.options.listeners.items()
        )
        if self.secured is None:
            return Access(listeners)
        found = self.secured.access(listeners)
        if self.control_url is None:
            return found
        from ..control.oauth import PATH

        secret = self.control_token or found.token_secret
        return replace(found, token_url=f"{self.control_url}{PATH}", token_secret=secret)

    @property
    def console_url(self) -> str | None:
        """The address of the page that shows the cluster, if there is one."""
        return f"{self.control_url}/console/" if self.options.console else None

    async def serve_control(self, nursery: "trio.Nursery") -> None:
        """Starts the control API, if it is wanted."""
        if self._control is not None:
            # Its imports take time, so they are done only when it is wanted.
            from ..control import http
            from .lending import lend

            token = self.options.control_token
            lending = functools.partial(lend, serve, token)
            start = functools.partial(http.serve, console=self.options.console, lend=lending)
            await nursery.start(start, self.target, self._control, token)

    def _prepare(self) -> None:
        options, cluster = self.options, self.cluster
        if options.trace:
            self.pump.watch(bodies=options.trace != REQUESTS)
        factor = _REPLICAS
        if "default.replication.factor" in options.config:
            factor = cluster.configs.broker_int("default.replication.factor")
        replicas = min(factor, options.brokers)
        if self.offsets is not None:
            restoring.restore(cluster, self.offsets, options.topics, replicas)
        for name, partitions in options.topics.items():
            if name not in cluster.topics:
                cluster.create_topic(name, assign_replicas(cluster.controller, partitions, replicas))
        for given in options.faults:
            fault = dict(given)
            self.target.add_fault(fault.pop("name", None), fault.pop("do", None), fault)

    def _listen(self) -> None:
        advertised = addresses(self.options.advertise, self.options.brokers)
        options, brokers = self.options, self.cluster.brokers.values()
        for number, broker in enumerate(brokers):
            broker.endpoints = {}
            for rank, (name, protocol) in enumerate(options.listeners.items()):
                port = options.port + rank * len(brokers) + number if options.port else 0
                endpoint = broker.endpoints[name] = Endpoint(name, protocol, options.host, port)
                if advertised is not None:
                    endpoint.bound = options.host, port
                    host, told = advertised[number]
                    # Ports are advertised of the first listener.
                    endpoint.host, endpoint.port = host, 0 if rank else told
            self.pump.listen(broker)
        if isinstance(options.security, Security):
            from .secured import Secured

            hosts = {each.endpoint.host for each in brokers} | {options.host}
            self.secured = self.pump.sockets.secured = Secured.of(
                options.security, self.cluster, sorted(hosts)
            )
        if self.options.control is not None:
            self._control = listen("127.0.0.1", self.options.control)
            self.control_url = "http://{}:{}".format(*self._control.getsockname())


def _servers(endpoints: Iterable[Endpoint]) -> str:
    return ",".join(joined(each.host, each.port) for each in endpoints)


@contextlib.contextmanager
def listening(observer: Observer, given: ClusterOptions) -> Iterator[ServedCluster]:
    """A cluster whose sockets are open, and for whoever runs its pump to serve; all is closed in the end.

    It takes the options of `serve`, and raises what that raises.
    """
    options = Options.of(given, "serve")
    served = ServedCluster(options, observer)
    wire = None
    try:
        if options.capture is not None:
            lost = functools.partial(served.reporting.failed, None)
            wire = served.pump.sockets.wire = Capture(Path(options.capture), lost)
        yield served
    finally:
        served.close()
        served.reporting.sum_up()
        if wire is not None:
            wire.close()


@contextlib.asynccontextmanager
async def serve(
    *, observer: Observer | None = None, **given: Unpack[ClusterOptions]
) -> AsyncIterator[ServedCluster]:
    """Serves a cluster inside a trio program for as long as the block lasts.

    It takes the options of `Options`. With `control` the HTTP control API is served on loopback too, on that
    port, or on any free one if it is True or 0: see `ServedCluster.control_url`. A fault in `faults` is a
    dict such as `{"do": "disconnect", "api": "Produce", "nth": 3}`, optionally with a `name`. What has failed
    in the cluster (see `failures`) is raised at the end, unless there is an `observer`, which is told of it.
    OptionError, UnknownReleaseError, ConfigError, UnknownPolicyError, FaultError; PortInUseError; OSError for
    a file that can't be written; WrongEventLoopError under asyncio.
    """
    import trio

    from .in_trio import pumped, regularly

    if not trio.lowlevel.in_trio_run():
        raise WrongEventLoopError(
            "mockbroker.serve is for trio programs: under asyncio, and in any other program, use "
            "`async with mockbroker.MockCluster(...)` or `with mockbroker.MockCluster(...)`"
        )
    error: BaseException | None = None
    with listening(observer or SilentObserver(), given) as served:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(pumped, served.pump)
            nursery.start_soon(regularly, repeats.SECONDS, served.reporting.sum_up)
            try:
                await served.serve_control(nursery)
                yield served
            except BaseException as raised:
                # The nursery would wrap it in a group.
                error = raised
            finally:
                nursery.cancel_scope.cancel()
    with noted_on(error):
        if observer is None:
            served.reporting.raise_failures()
    if error is not None:
        raise error
