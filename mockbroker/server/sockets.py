"""The sockets of clients: what is read from them becomes requests of their connection, and what that has to
send is written to them.

After each event a socket is settled: answers are sent as far as the kernel takes them, and the poller is told
what the socket waits for now. Nothing is read from a client

- that has answers left to take (only WRITE is watched): it would ask for more of what it does not fetch;
- whose slice was over before all its requests were answered: these are resumed in `Pump`'s next round;
- of whom so much waits behind a request that is not answered yet that `Connection.is_full`.

A client that sends no more (it half-closed its socket) still gets its answers; its socket is dropped after
those, and at once if nothing will be answered. An error in a handler ends the connection that sent the
request, and no other.

A connection on which nothing has come or gone for `connections.max.idle.ms` is closed, by the time outside:
who moves the cluster's time ahead finds all of them open (`Selector.maybeCloseOldestConnection`).
"""

import contextlib
import math
import socket
import struct
from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from ..addresses import as_java_has_it, joined, of_client
from ..cluster.broker import Broker
from ..cluster.cluster import Cluster
from ..cluster.endpoint import PLAINTEXT, Endpoint
from ..faults import Faults
from ..trace import Trace
from .capture import Wire
from .clock import Clock
from .connection import Buffer, Connection
from .failures import RequestFailedError
from .listeners import Listeners
from .observer import Observer
from .poller import READ, WRITE, Poller
from .slices import Slice

if TYPE_CHECKING:
    # Most clusters have only listeners that are PLAINTEXT.
    from .proving import Proving
    from .secured import Secured
    from .tls import TlsSocket

READ_BYTES: Final = 256 * 1024
JOINED_BYTES: Final = 16 * 1024
"""Answers up to this size, all together, are sent as one buffer: to copy them takes less than to hand over
each."""
_BUFFERS_PER_WRITE: Final = 512
NO_LINGER: Final = struct.pack("ii", 1, 0)
"""The value of SO_LINGER with which closing a socket resets the connection."""


class ClientSocket:
    """A socket and its connection."""

    __slots__ = ("active_ms", "connection", "ended", "events", "fd", "queued", "sock")

    def __init__(self, sock: "socket.socket | TlsSocket", connection: Connection, active_ms: int) -> None:
        self.sock = sock
        self.fd = sock.fileno()
        self.connection = connection
        self.events = READ
        self.queued = False
        self.ended = False
        """Whether the client sends no more, but still gets answers."""
        self.active_ms = active_ms
        """When bytes last came or went, in ms since the start."""


class ClientSockets:
    """The sockets of all clients. `open` are by file descriptor; `ready` are connections that have something
    to send although their client sent nothing; `behind` are sockets whose requests were not all answered."""

    def __init__(
        self,
        cluster: Cluster,
        observer: Observer,
        faults: Faults,
        trace: Trace,
        slice_: Slice,
        poller: Poller,
        clock: Clock,
    ) -> None:
        self._cluster = cluster
        self._observer = observer
        self._faults = faults
        self._trace = trace
        self._slice = slice_
        self._poller = poller
        self._clock = clock
        self._idle_ms = cluster.environment.configs.broker_int("connections.max.idle.ms")
        self.idle_at_ms = math.inf
        """When a connection may have been idle for too long, in ms since the start."""
        self.listeners = Listeners(cluster, poller, observer, self._drop_clients_of)
        self.wire: Wire | None = None
        self.secured: Secured | None = None
        """What listeners need that are not PLAINTEXT."""
        self._proving: Proving[ClientSocket] | None = None
        self._unread: list[ClientSocket] = []
        """Sockets with TLS that have received more than was read."""
        self.open: dict[int, ClientSocket] = {}
        self.ready: list[Connection] = []
        self.behind: deque[ClientSocket] = deque()
        self._by_connection: dict[Connection, ClientSocket] = {}
        self._buffer = bytearray(READ_BYTES)
        self._view = memoryview(self._buffer).toreadonly()

    def close(self) -> None:
        for peer in list(self.open.values()):
            self.drop(peer)
        self.listeners.close()

    def _drop_clients_of(self, broker: Broker, listener: Endpoint) -> None:
        for peer in list(self.open.values()):
            connection = peer.connection
            if connection.broker is broker and connection.client.listener == listener.name:
                self.drop(peer)

    def give_up(self, peer: ClientSocket, error: Exception) -> None:
        connection = peer.connection
        self._observer.failed(connection, RequestFailedError(connection, None, None, error))
        self.drop(peer)

    def accept(self, fd: int) -> None:
        for sock, (host, port), broker, endpoint in self.listeners.accepted(fd):
            host = of_client(host)
            given = (
                *(self._cluster, broker, joined(host, port), f"/{as_java_has_it(host)}", self._observer),
                *(self.ready.append, self._faults, self._trace, self._slice, endpoint.name),
            )
            if endpoint.protocol == PLAINTEXT:
                peer = ClientSocket(sock, Connection(*given), self._clock.elapsed_ms)
            else:
                peer = self._secure(sock, given, endpoint)
            connection = peer.connection
            self._expect_idle(peer)
            self.open[peer.fd] = peer
            self._by_connection[connection] = peer
            if self.wire is not None:
                self.wire.opened(connection)
            self._poller.watch(peer.fd, READ)

    def _secure(self, sock: socket.socket, given: tuple[Any, ...], endpoint: Endpoint) -> ClientSocket:
        """A client of a listener with TLS or SASL."""
        from .proving import Proving
        from .sasl_connection import SaslConnection
        from .tls import TlsSocket

        secured = self.secured
        assert secured is not None, "there are listeners with TLS or SASL"
        if self._proving is None:
            most_ms = self._cluster.environment.configs.broker_int("mockbroker.max.handshake.ms")
            self._proving = Proving(self._trace, secured.rules, most_ms, self._read_later)
        connection: Connection
        if endpoint.sasl:
            connection = SaslConnection(*given, logins=secured.logins[endpoint.name])
            connection.wire = self.wire
        else:
            connection = Connection(*given)
        shown: socket.socket | TlsSocket = sock
        if endpoint.tls:
            broken = secured.handshakes.next(connection.broker.id)
            shown = TlsSocket(
                sock, secured.context(connection.broker.id, endpoint.name), endpoint.protocol, broken
            )
        peer = ClientSocket(shown, connection, self._clock.elapsed_ms)
        self.idle_at_ms = min(self.idle_at_ms, self._proving.begin(peer, endpoint, self._clock.elapsed_ms))
        return peer

    def _read_later(self, peer: ClientSocket) -> None:
        """More has come than was read, of which the poller does not know."""
        self._unread.append(peer)
        self.ready.append(peer.connection)

    def _read_on(self) -> None:
        unread, self._unread = self._unread, []
        for peer in unread:
            # Otherwise it is read once the client has taken its answers.
            if self.open.get(peer.fd) is peer and peer.events == READ:
                try:
                    self.read(peer)
                except Exception as error:
                    self.give_up(peer, error)

    def _expect_idle(self, peer: ClientSocket) -> None:
        if self._idle_ms >= 0:
            self.idle_at_ms = min(self.idle_at_ms, peer.active_ms + self._idle_ms)

    def close_idle(self) -> None:
        """To be called at `idle_at_ms`; ends also what takes too long to log in."""
        self.idle_at_ms = math.inf
        if self._proving is not None:
            for peer in self._proving.late(self._clock.elapsed_ms):
                self.drop(peer)
            self.idle_at_ms = min(self.idle_at_ms, self._proving.next_ms or math.inf)
        for peer in list(self.open.values()):
            if self._idle_ms < 0 or peer.active_ms + self._idle_ms > self._clock.elapsed_ms:
                self._expect_idle(peer)
            else:
                self.drop(peer)

    def close_quiet(self) -> None:
        """Closes all connections on which no answer is owed, as if each had been idle for too long."""
        for peer in list(self.open.values()):
            if not peer.connection.owes:
                self.drop(peer)

    def read(self, peer: ClientSocket) -> None:
        connection = peer.connection
        target = connection.target
        try:
            size = peer.sock.recv_into(self._buffer if target is None else target)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self.drop(peer)
            return
        if not size:
            # Like Kafka, which reads on only when it has answered, and notices the end then.
            peer.ended = True
            self.settle(peer)
            return
        peer.active_ms = self._clock.elapsed_ms
        if self.wire is not None and not connection.tells_wire:
            self.wire.received(connection, bytes((self._view if target is None else target)[:size]))
        if target is None:
            connection.receive(self._view[:size])
        else:
            connection.filled(size)
        if self.ready:
            # Who waited for what this client sent has waited for longer.
            self.flush_ready()
        self.settle(peer)

    def flush_ready(self) -> None:
        while self.ready:
            ready, self.ready[:] = list(self.ready), []
            for connection in ready:
                peer = self._by_connection.get(connection)
                if peer is not None:
                    try:
                        self.settle(peer)
                    except Exception as error:
                        self.give_up(peer, error)
            if self._unread:
                self._read_on()

    def resume(self, peer: ClientSocket, seconds: float) -> None:
        peer.queued = False
        if self.open.get(peer.fd) is not peer or peer.connection.out:
            return
        self._slice.end = self._slice.clock() + seconds
        try:
            peer.connection.resume()
            self.settle(peer)
        except Exception as error:
            self.give_up(peer, error)

    def settle(self, peer: ClientSocket) -> None:
        """Sends what there is, and tells the poller what the connection waits for now."""
        connection = peer.connection
        if connection.out and not self._send(peer):
            return
        if connection.wants_close:
            self.drop(peer)
            return
        events = READ
        if peer.ended:
            if not connection.owes:
                self.drop(peer)
                return
            events = 0
        if connection.waiting:
            if connection.behind and not peer.queued:
                peer.queued = True
                self.behind.append(peer)
            if connection.behind or connection.is_full:
                events = 0
        if peer.events != events:
            self._watch(peer, events)

    def _send(self, peer: ClientSocket) -> bool:
        """Sends what there is; False if the peer has to take more first, or is gone."""
        connection = peer.connection
        out = connection.out
        while out:
            try:
                if len(out) == 1:
                    sent = peer.sock.send(out[0])
                elif connection.out_bytes <= JOINED_BYTES:
                    sent = peer.sock.send(b"".join(out))
                else:
                    sent = peer.sock.sendmsg([out[i] for i in range(min(len(out), _BUFFERS_PER_WRITE))])
            except (BlockingIOError, InterruptedError):
                self._watch(peer, WRITE)
                return False
            except OSError:
                self.drop(peer)
                return False
            peer.active_ms = self._clock.elapsed_ms
            if self.wire is not None and not connection.tells_wire:
                self.wire.sent(connection, b"".join(map(bytes, _first(out, sent))))
            connection.out_bytes = left = connection.out_bytes - sent
            if not left:
                out.clear()
                return True
            while sent:
                first = out[0]
                if sent < len(first):
                    out[0] = memoryview(first)[sent:]
                    break
                sent -= len(first)
                out.popleft()
            if out and self._slice.over:
                self._watch(peer, WRITE)
                return False
        return True

    def _watch(self, peer: ClientSocket, events: int) -> None:
        if peer.events != events:
            peer.events = events
            self._poller.change(peer.fd, events)
            if self._proving is not None and events == READ and getattr(peer.sock, "has_more", False):
                self._read_later(peer)

    def drop(self, peer: ClientSocket) -> None:
        if self.open.pop(peer.fd, None) is None:
            return
        self._by_connection.pop(peer.connection, None)
        if self._proving is not None:
            self._proving.forget(peer)
        peer.connection.dropped()
        peer.connection.client.closed()
        with contextlib.suppress(OSError, ValueError):
            self._poller.forget(peer.fd)
        if peer.connection.resets:
            with contextlib.suppress(OSError):
                peer.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
        peer.sock.close()
        self.listeners.file_closed()
        if self.wire is not None:
            self.wire.closed(peer.connection)
        if peer.connection.announced:
            self._observer.disconnected(peer.connection)


def _first(buffers: Iterable[Buffer], size: int) -> Iterator[memoryview]:
    """The first `size` bytes of all buffers."""
    for each in buffers:
        if size <= 0:
            return
        yield memoryview(each)[:size]
        size -= len(each)
