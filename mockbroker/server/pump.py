"""The data plane: one trio task that owns a poller and pumps all ready sockets.

A task per connection would cost an event-loop turn per request. Here a ready socket is read once, all
complete requests in it are answered, and the answers leave in one write.
"""

import contextlib
import errno
import socket
import time
from typing import TYPE_CHECKING, Final

import trio

from ..faults import Faults
from ..trace import Trace
from .capture import Wire
from .connection import Connection
from .listening import listen
from .poller import READ, WRITE, new_poller

if TYPE_CHECKING:
    from ..cluster.broker import Broker
    from ..cluster.cluster import Cluster
    from .observer import Observer

READ_BYTES: Final = 256 * 1024
TURN_SECONDS: Final = 0.002
"""How long the pump goes on before other trio tasks get their turn."""
PATIENCE_SECONDS: Final = 0.0005
"""How long it waits inline for more: a client in a request-answer rhythm is met without a turn."""
_BUFFERS_PER_WRITE: Final = 512


class _Peer:
    """A socket and its connection."""

    __slots__ = ("connection", "events", "fd", "sock")

    def __init__(self, sock: socket.socket, connection: Connection) -> None:
        self.sock = sock
        self.fd = sock.fileno()
        self.connection = connection
        self.events = READ


class Pump:
    """Serves `cluster` on sockets that `listen` was given, until `run` is cancelled."""

    def __init__(self, cluster: "Cluster", observer: "Observer") -> None:
        self._cluster = cluster
        self._observer = observer
        self.faults = Faults(cluster)
        self.trace = Trace(cluster)
        self.wire: Wire | None = None
        self._poller = new_poller()
        self._listeners: dict[int, tuple[socket.socket, Broker]] = {}
        self._peers: dict[int, _Peer] = {}
        self._by_connection: dict[Connection, _Peer] = {}
        self._ready: list[Connection] = []
        self._buffer = bytearray(READ_BYTES)
        self._view = memoryview(self._buffer).toreadonly()
        self._broker_changes = cluster.broker_changes
        self._epoch_ms = cluster.now_ms
        self._started = time.monotonic()
        self._sleep = trio.CancelScope()

    def listen(self, broker: "Broker") -> None:
        """Listens where `broker` says it is; its port is filled in if it was 0. PortInUseError."""
        sock = listen(broker.host, broker.port)
        broker.port = sock.getsockname()[1]
        self._listeners[sock.fileno()] = (sock, broker)
        self._poller.watch(sock.fileno(), READ)

    def _follow_brokers(self) -> None:
        """A broker that is down refuses connections; one that is back listens where it did."""
        if self._broker_changes == self._cluster.broker_changes:
            return
        self._broker_changes = self._cluster.broker_changes
        for fd, (sock, broker) in list(self._listeners.items()):
            if not broker.online:
                del self._listeners[fd]
                self._poller.forget(fd)
                sock.close()
                for peer in [p for p in self._peers.values() if p.connection.broker is broker]:
                    self._drop(peer)
        listening = {broker.id for _, broker in self._listeners.values()}
        for broker in self._cluster.brokers.values():
            if broker.online and broker.id not in listening:
                self.listen(broker)

    def now_ms(self) -> int:
        """Unix time that never goes back."""
        return self._epoch_ms + int((time.monotonic() - self._started) * 1000)

    def watch(self) -> None:
        """Begins to trace."""
        self.trace.start()
        self.faults.watch()

    async def run(self) -> None:
        """Pumps until cancelled; closes every socket then."""
        try:
            while True:
                if self._turn():
                    await trio.lowlevel.checkpoint()
                else:
                    with trio.move_on_at(self._trio_deadline()) as self._sleep:
                        await trio.lowlevel.wait_readable(self._poller.fileno())
        finally:
            self.close()

    def poke(self) -> None:
        """After a change from outside (control, another thread's call): fires timers, writes answers."""
        self._cluster.advance(self.now_ms())
        self._follow_brokers()
        self.trace.changed()
        self._flush_ready()
        # The change may have set a timer that is due before the pump would have looked again.
        self._sleep.deadline = self._trio_deadline()

    def close(self) -> None:
        for peer in list(self._peers.values()):
            self._drop(peer)
        for sock, _ in self._listeners.values():
            sock.close()
        self._listeners.clear()
        self._poller.close()

    def _trio_deadline(self) -> float:
        deadline = self._cluster.next_deadline()
        if deadline is None:
            return float("inf")
        return trio.current_time() + max(0, deadline - self.now_ms()) / 1000

    def _turn(self) -> bool:
        """Pumps until nothing comes, or the turn is over: then there is more to do."""
        poll, peers, cluster = self._poller.poll, self._peers, self._cluster
        end = time.monotonic() + TURN_SECONDS
        while True:
            events = poll(PATIENCE_SECONDS)
            now = time.monotonic()
            now_ms = self._epoch_ms + int((now - self._started) * 1000)
            if now_ms != cluster.now_ms:
                cluster.advance(now_ms)
                self._follow_brokers()
                self.trace.changed()
            for fd, mask in events:
                peer = peers.get(fd)
                if peer is None:
                    if fd in self._listeners:
                        self._accept(*self._listeners[fd])
                    continue
                if mask & WRITE and peer.connection.out:
                    self._write(peer)
                if mask & READ:
                    self._read(peer)
                elif mask & ~WRITE:
                    self._drop(peer)
            if self._ready:
                self._flush_ready()
            if not events:
                return False
            if now > end:
                return True

    def _accept(self, listener: socket.socket, broker: "Broker") -> None:
        for _ in range(64):
            try:
                sock, address = listener.accept()
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                if error.errno in (errno.EMFILE, errno.ENFILE):
                    return
                continue
            sock.setblocking(False)
            with contextlib.suppress(OSError):
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            name = f"{address[0]}:{address[1]}"
            connection = Connection(
                broker, name, f"/{address[0]}", self._observer, self._ready.append, self.faults, self.trace
            )
            peer = _Peer(sock, connection)
            self._peers[peer.fd] = peer
            self._by_connection[connection] = peer
            if self.wire is not None:
                self.wire.opened(connection)
            self._poller.watch(peer.fd, READ)

    def _read(self, peer: _Peer) -> None:
        connection = peer.connection
        target = connection.target
        try:
            size = peer.sock.recv_into(self._buffer if target is None else target)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            size = 0
        if not size:
            self._drop(peer)
            return
        if self.wire is not None:
            self.wire.received(connection, bytes((self._view if target is None else target)[:size]))
        if target is None:
            connection.receive(self._view[:size])
        else:
            connection.filled(size)
        if connection.out or connection.wants_close:
            self._write(peer)
        if connection.stuffed:
            self._watch(peer, 0)

    def _flush_ready(self) -> None:
        while self._ready:
            ready, self._ready[:] = list(self._ready), []
            for connection in ready:
                peer = self._by_connection.get(connection)
                if peer is not None:
                    self._write(peer)

    def _write(self, peer: _Peer) -> None:
        """Sends what is there; answers on when all of it is gone; watches for writability when it is not."""
        connection = peer.connection
        out = connection.out
        while True:
            while out:
                try:
                    if len(out) == 1:
                        sent = peer.sock.send(out[0])
                    else:
                        sent = peer.sock.sendmsg([out[i] for i in range(min(len(out), _BUFFERS_PER_WRITE))])
                except (BlockingIOError, InterruptedError):
                    self._watch(peer, WRITE)
                    return
                except OSError:
                    self._drop(peer)
                    return
                if self.wire is not None:
                    self.wire.sent(connection, b"".join(map(bytes, out))[:sent])
                connection.out_bytes -= sent
                while sent:
                    first = out[0]
                    if sent < len(first):
                        out[0] = memoryview(first)[sent:]
                        break
                    sent -= len(first)
                    out.popleft()
            if connection.wants_close:
                self._drop(peer)
                return
            if not connection.has_pending or connection.parked is not None:
                break
            connection.resume()
            if not out and not connection.wants_close:
                break
        if peer.events != READ:
            self._watch(peer, READ)

    def _watch(self, peer: _Peer, events: int) -> None:
        if peer.events != events:
            peer.events = events
            self._poller.change(peer.fd, events)

    def _drop(self, peer: _Peer) -> None:
        if self._peers.pop(peer.fd, None) is None:
            return
        self._by_connection.pop(peer.connection, None)
        peer.connection.wants_close = True
        with contextlib.suppress(OSError, ValueError):
            self._poller.forget(peer.fd)
        peer.sock.close()
        if self.wire is not None:
            self.wire.closed(peer.connection)
        if peer.connection.announced:
            self._observer.disconnected(peer.connection)
