"""The proxy on real sockets: a listener for each broker, a `Connection` for each client."""

import contextlib
import math
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

import trio

from ..addresses import as_java_has_it, joined, of_client
from ..errors import first_of
from ..faults import Fault
from ..outcome import Client
from ..security import Security
from ..server.listening import listen, no_file_left
from ..trace import Trace
from .asking import ask_brokers
from .connection import Connection
from .dialing import Dial, Stream
from .options import Address, ProxyOptions
from .relay import Relay
from .session import Session
from .sides import PlainSide, Side, side_of
from .upstream import Upstream, UpstreamBroker

if TYPE_CHECKING:
    from ..control.access import Access
    from ..control.target import Target
    from .listening import ListenerTls
    from .playing import Playing

_ACCEPT_AGAIN_SECONDS: Final = 0.1
"""After a failure, such as too many open files."""
_DIALED_AT_ONCE: Final = 100
"""Connections to one broker that are begun at once: more of them would not all be there in time."""
_IDLE_SECONDS: Final = 600
"""Who says nothing for so long at first is no longer waited for, as by brokers (`connections.max.idle.ms`):
these do not know of such a client."""
_NO_FILE_LEFT: Final = "too many files are open: some clients have to wait, or are closed; raise `ulimit -n`"
_LINES: Final = 1000
"""How many different lines a user is told."""


class Proxy:
    """Stands in front of a cluster until its block ends. `tell` gets lines for its user, each once.

    To be used in trio.
    """

    def __init__(self, options: ProxyOptions, tell: Callable[[str], None] = lambda _: None) -> None:
        self._options = options
        self._tell_user = tell
        self._told: set[str] = set()
        self._upstream = Upstream(self._listen, options.kafka, options.policies)
        self._upstream.environment.failed = lambda error, _: self._tell(f"a fault failed: {error!r}")
        self._next_port = options.port
        self._listening: dict[int, socket.socket] = {}
        self._started = time.monotonic()
        self._began_ms = int(time.time() * 1000)
        self._upstream.environment.advance(self._began_ms)
        self._upstream.trace.failed = lambda error: self._tell(f"the trace failed: {error}")
        self._relay = Relay(self._seconds_left)
        self._dial = Dial(options.upstream_tls)
        self._tls: ListenerTls | None = None
        self._playing: Playing | None = None
        self._sleep = trio.CancelScope()
        self._due_ms: int | None = None
        self._nursery: trio.Nursery
        self.control_url: str | None = None
        """The address of the control API, if there is one."""

    @property
    def bootstrap_servers(self) -> str:
        """The listeners of all brokers that are known, in order of broker id; if the cluster wants a login,
        first those of the addresses that were given."""
        brokers = sorted(self._upstream.brokers.values(), key=lambda each: each.id)
        found = dict.fromkeys(each.local for each in (*self._upstream.seeds, *brokers))
        return ",".join(joined(*each) for each in found)

    @property
    def faults(self) -> list[Fault]:
        """Those in force and those that were, with their hits."""
        return self._upstream.faults.added

    def add_fault(self, **given: Any) -> Fault:
        """Adds a fault: see docs/faults.md. FaultError, also for a fault that a proxy can't bring about."""
        return self._upstream.faults.add(**{"do": None, **given})

    def remove_fault(self, fault: Fault) -> None:
        """Removes a fault. May be called twice."""
        self._upstream.faults.remove(fault)

    def access(self, mechanism: str | None, user: str | None, password: str | None) -> "Access":
        """How clients reach the proxy, and log in to the cluster. OptionError."""
        from .access import access

        return access(self.bootstrap_servers, self._tls, mechanism, user, password)

    @property
    def scenario_failures(self) -> list[str]:
        """What of the scenario has failed so far; all of it once the block of `running` has ended."""
        return [] if self._playing is None else self._playing.failures

    @property
    def trace(self) -> Trace:
        """What clients say, and are answered: from its `start` on."""
        return self._upstream.trace

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator["Proxy"]:
        """Listens, and carries what comes. A scenario ends with the block: then its checks are done.
        UpstreamError, PortInUseError, FaultError; OptionError and MissingExtraError for TLS."""
        try:
            self._use_tls(self._options.security)
            async with trio.open_nursery() as self._nursery:
                self._nursery.start_soon(self._relay.run)
                await self._start(self._options.faults)
                self._nursery.start_soon(self._keep_time)
                yield self
                if self._playing is not None:
                    await self._playing.finish()
                self._nursery.cancel_scope.cancel()
        finally:
            self._relay.close()
            for sock in self._listening.values():
                sock.close()
            if self._tls is not None:
                self._tls.close()

    def _use_tls(self, security: Security | None) -> None:
        if security is None:
            return
        # Most proxies have no TLS.
        from .listening import ListenerTls

        self._tls = ListenerTls(security, [self._options.host])

    async def _start(self, faults: Iterable[Mapping[str, Any]]) -> None:
        options = self._options
        decider = self._upstream.decider
        meet = decider.meet if decider.asks else None
        brokers = await ask_brokers(list(options.upstream), self._asked_at, meet)
        for broker in sorted(brokers, key=lambda each: each.node_id):
            self._upstream.told(broker.node_id, broker.host, broker.port)
        if not brokers:
            self._upstream.begins_at(map(options.told_as, options.upstream))
        if self._options.trace:
            self._upstream.trace.start(bodies=self._options.trace is True)
        # Its faults without a name have numbers, which others may take that come later.
        if options.scenario is not None:
            from .playing import Playing

            self._playing = Playing(options.scenario, self._target, self._tell_user)
            await self._nursery.start(self._playing.run)
        for given in faults:
            self.add_fault(**given)
        if self._options.control is not None:
            await self._serve_control(self._options.control)

    async def _asked_at(self, address: Address) -> Stream:
        return await self._dial.stream(address, self._options.told_as(address)[0])

    async def _serve_control(self, port: int) -> None:
        # Few proxies are controlled.
        from ..control.http import serve
        from .controlling import OFFERED

        sock = listen("127.0.0.1", port)
        self.control_url = "http://{}:{}".format(*sock.getsockname())
        start = partial(serve, only=OFFERED)
        await self._nursery.start(start, self._target, sock, self._options.control_token)

    @cached_property
    def _target(self) -> "Target":
        """The proxy as operations see it, once its brokers are known."""
        from .controlling import target_of

        return target_of(self._upstream, self.bootstrap_servers, self._poke)

    def _poke(self) -> None:
        self._catch_up()
        self._rearm()

    # -- listeners

    def _listen(self, broker: int) -> Address:
        sock = listen(self._options.host, self._next_port)
        if self._next_port:
            self._next_port += 1
        sock.setblocking(False)
        self._listening[broker] = sock
        self._nursery.start_soon(self._accept, broker, sock)
        name: tuple[str, int] = sock.getsockname()[:2]
        return name

    async def _accept(self, broker: int, listening: socket.socket) -> None:
        dialing = trio.CapacityLimiter(_DIALED_AT_ONCE)
        while True:
            await self._relay.readable(listening)
            if no_file_left(listening.fileno()) is not None:
                self._tell(_NO_FILE_LEFT)
                await trio.sleep(_ACCEPT_AGAIN_SECONDS)
                continue
            try:
                sock, name = listening.accept()
            except OSError as error:
                self._tell(f"broker {broker}: a client could not be accepted: {error.strerror}")
                await trio.sleep(_ACCEPT_AGAIN_SECONDS)
                continue
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._nursery.start_soon(self._serve, self._upstream.broker(broker), sock, name[:2], dialing)
            self._relay.woke()

    async def _serve(
        self, broker: UpstreamBroker, sock: socket.socket, name: Address, dialing: trio.CapacityLimiter
    ) -> None:
        with sock:
            ours = await self._shaken(sock, name[0])
            if ours is None:
                return
            # Who says nothing costs one file, and the broker nothing.
            first = await _first(ours)
            theirs = None
            if first:
                with self._relay.others():
                    async with dialing:
                        theirs = await self._connected(broker, sock)
            if theirs is None:
                await ours.close(resets=False)
            else:
                await self._carry(broker, ours, theirs, name, first)

    async def _shaken(self, sock: socket.socket, client: str) -> Side | None:
        """The client's side; None if there is none, because its TLS handshake has failed."""
        if self._tls is None:
            return PlainSide(sock, self._relay)
        try:
            return await self._tls.side(sock)
        except ConnectionError as error:
            self._tell(f"{of_client(client)}: closed, {error}")
            return None

    async def _connected(self, broker: UpstreamBroker, sock: socket.socket) -> Side | None:
        """The broker's side; None if it can't be reached, which is told. `sock` is any that is open."""
        if no_file_left(sock.fileno()) is not None:
            self._tell(_NO_FILE_LEFT)
            return None
        there = self._options.reached_at(broker.address)
        try:
            return side_of(await self._dial.stream_in_time(there, broker.host), self._relay)
        except OSError as error:
            self._tell(f"{broker} can't be reached at {joined(*there)}: {error}")
            return None

    async def _carry(
        self, broker: UpstreamBroker, ours: Side, theirs: Side, name: Address, first: bytes
    ) -> None:
        host = of_client(name[0])
        client = Client(f"/{as_java_has_it(host)}", joined(host, name[1]))
        connection = Connection(ours, theirs, self._catch_up, self._rearm, self._relay.woke)

        def ready() -> None:
            connection.poke()
            self._rearm()

        try:
            await connection.run(Session(self._upstream, broker, client, ready, self._tell), first)
        except Exception as error:
            # Whatever it is, other clients have nothing to do with it.
            self._tell(f"the connection of {host} to broker {broker.id} was closed: {first_of(error)!r}")
        finally:
            client.closed()

    def _tell(self, line: str) -> None:
        if line not in self._told and len(self._told) < _LINES:
            self._told.add(line)
            self._tell_user(line)

    # -- time, for faults that wait

    def _catch_up(self) -> None:
        passed_ms = int((time.monotonic() - self._started) * 1000)
        self._upstream.environment.advance(self._began_ms + passed_ms)

    def _rearm(self) -> None:
        due_ms = self._upstream.environment.timers.next_deadline()
        if due_ms != self._due_ms:
            self._due_ms = due_ms
            self._sleep.deadline = trio.current_time() + self._seconds_left()

    def _seconds_left(self) -> float:
        if self._due_ms is None:
            return math.inf
        return max(0.0, self._started + (self._due_ms - self._began_ms) / 1000 - time.monotonic())

    async def _keep_time(self) -> None:
        while True:
            self._due_ms = self._upstream.environment.timers.next_deadline()
            with trio.CancelScope(deadline=trio.current_time() + self._seconds_left()) as self._sleep:
                await trio.sleep_forever()
            self._catch_up()


async def _first(client: Side) -> bytes:
    """What it says first; nothing if it leaves before, or says nothing for long."""
    said = b""

    def take(data: bytes) -> bool:
        nonlocal said
        said = data
        return False

    with trio.move_on_after(_IDLE_SECONDS), contextlib.suppress(OSError):
        await client.carry(take)
    return said
