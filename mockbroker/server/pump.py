"""The data plane: one trio task that owns a poller and pumps all ready sockets.

A task per connection would cost an event-loop turn per request. Here a ready socket is read once, the
complete requests in it are answered, and the answers leave in one write.

No connection may hold up the others. Each has a slice of time, after which its remaining requests wait, and
the connection is not read meanwhile. Such connections take turns, and together have one slice between two
polls of the sockets. So a client that sends one request at a time hardly waits for clients that send
thousands.
"""

import contextlib
import socket
import struct
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import trio

from ..addresses import as_java_has_it, joined, of_client
from ..cluster.broker import Broker
from ..cluster.cluster import Cluster
from ..environment import Owner
from ..faults import Faults
from ..policies import OwnPolicyError
from ..trace import Trace
from .capture import Wire
from .clock import Clock
from .connection import Buffer, Connection
from .failures import ClusterError, RequestFailedError
from .listeners import Listeners
from .observer import Observer
from .poller import READ, WRITE, new_poller
from .slices import Slice

READ_BYTES: Final = 256 * 1024
TURN_SECONDS: Final = 0.002
"""How long the pump runs before other trio tasks get their turn."""
PATIENCE_SECONDS: Final = 0.0005
"""How long it waits for more before it yields: a client that sends its next request at once is answered in
the same turn."""
SLICE_SECONDS: Final = 0.002
"""How long the sockets of one poll have together; after that, together, connections with requests left."""
LEAST_SLICE_SECONDS: Final = 0.00025
"""The least that each of many connections has; it can finish its current request in any case."""
SOCKETS_PER_LOOK: Final = 64
_BUFFERS_PER_WRITE: Final = 512
_NO_LINGER: Final = struct.pack("ii", 1, 0)
"""The value of SO_LINGER with which closing a socket resets the connection."""


class _Peer:
    """A socket and its connection."""

    __slots__ = ("connection", "ended", "events", "fd", "queued", "sock")

    def __init__(self, sock: socket.socket, connection: Connection) -> None:
        self.sock = sock
        self.fd = sock.fileno()
        self.connection = connection
        self.events = READ
        self.queued = False
        self.ended = False
        """Whether the client sends no more, but still gets answers."""


class Pump:
    """Serves `cluster` on the sockets that `listen` opened, until `run` is cancelled.

    `monotonic` is the clock for slices and turns, in seconds.
    """

    def __init__(
        self,
        cluster: Cluster,
        observer: Observer,
        *,
        manual_clock: bool = False,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._cluster = cluster
        self._observer = observer
        self.faults = Faults(cluster)
        self.trace = Trace(cluster)
        self.trace.failed = lambda error: self._failed(error, None)
        self.wire: Wire | None = None
        self._poller = new_poller()
        self._peers: dict[int, _Peer] = {}
        self._by_connection: dict[Connection, _Peer] = {}
        self._ready: list[Connection] = []
        self._behind: deque[_Peer] = deque()
        self._slice = Slice(monotonic)
        self._enough = lambda: self._slice.over
        self._buffer = bytearray(READ_BYTES)
        self._view = memoryview(self._buffer).toreadonly()
        self.clock = Clock(cluster, manual_clock)
        cluster.environment.failed = self._failed
        self._work = cluster.work
        self._work.in_parts = True
        self._sleep = trio.CancelScope()
        self._busy = self._poked = False
        self.listeners = Listeners(cluster, self._poller, observer, self._drop_clients_of)

    def listen(self, broker: Broker) -> None:
        """Listens on the address of `broker`; a port 0 is replaced by the real one. PortInUseError."""
        self.listeners.listen(broker)

    def _drop_clients_of(self, broker: Broker) -> None:
        for peer in [p for p in self._peers.values() if p.connection.broker is broker]:
            self._drop(peer)

    def watch(self, *, bodies: bool = True) -> None:
        """Starts the trace."""
        self.trace.start(bodies=bodies)

    async def run(self) -> None:
        """Pumps until it is cancelled, then closes every socket."""
        try:
            while True:
                if self._turn():
                    await trio.lowlevel.checkpoint()
                else:
                    self.trace.rest()
                    with trio.move_on_at(self._trio_deadline()) as self._sleep:
                        await trio.lowlevel.wait_readable(self._poller.fileno())
        finally:
            self.close()

    def poke(self) -> None:
        """To be called after a change from outside (control, another thread's call): fires timers, writes
        answers.

        If one of these timers calls it, or a request that is being handled, it does so once that is finished.
        """
        self._poked = True
        if self._busy:
            return
        self._busy = True
        try:
            while self._poked:
                self._poked = False
                self.clock.catch_up()
                self._follow()
                self._flush_ready()
        finally:
            self._busy = False
        # The change may have set a timer that is due before the pump would wake up.
        self._sleep.deadline = self._trio_deadline()

    def _follow(self) -> None:
        self.listeners.follow()
        self.listeners.start_deaf()
        self.trace.changed()

    def close(self) -> None:
        for peer in list(self._peers.values()):
            self._drop(peer)
        self.listeners.close()
        self._poller.close()

    def _trio_deadline(self) -> float:
        if self._behind or self._work:
            return 0
        left = (self.clock.seconds_left(), self.listeners.seconds_left(), self.trace.ms_left / 1000)
        return trio.current_time() + min(left)

    def _turn(self) -> bool:
        """Pumps until nothing comes, or until the turn is over: then there is more to do."""
        self._busy = True
        try:
            return self._pump()
        finally:
            self._busy = False

    def _pump(self) -> bool:
        poll, peers, clock, listeners = self._poller.poll, self._peers, self.clock, self.listeners
        behind, work, slice_ = self._behind, self._work.under_way, self._slice
        end = slice_.clock() + TURN_SECONDS
        while True:
            events = poll(0 if behind or work else PATIENCE_SECONDS, SOCKETS_PER_LOOK)
            now = time.monotonic()
            elapsed_ms = int((now - clock.started) * 1000)
            if elapsed_ms != clock.elapsed_ms:
                clock.elapse(elapsed_ms)
                listeners.follow()
                self.trace.time_went_by()
                listeners.accept_again()
            if listeners.deaf:
                listeners.start_deaf()
            if events:
                # The time that one connection does not use is left to the next.
                seconds = max(SLICE_SECONDS / len(events), LEAST_SLICE_SECONDS)
                slice_.end = slice_.clock()
                for fd, mask in events:
                    peer = peers.get(fd)
                    if peer is None:
                        self._accept(fd)
                        continue
                    slice_.end += seconds
                    try:
                        if mask & READ:
                            self._read(peer)
                        elif mask & WRITE and peer.connection.out:
                            self._settle(peer)
                        elif mask & ~WRITE:
                            self._drop(peer)
                    except Exception as error:
                        self._give_up(peer, error)
            if self._poked:
                self._poked = False
                self._follow()
            busy = bool(events or behind or work)
            if behind or work:
                self._catch_up()
            if self._ready:
                self._flush_ready()
            if not busy:
                return False
            if slice_.clock() > end:
                return True

    def _failed(self, error: Exception, owner: Owner | None) -> None:
        """An error raised while no handler was running ends the request that waited for it, and nothing
        else."""
        if owner is not None:
            owner.ended_by(error)
        elif isinstance(error, OwnPolicyError):
            self._observer.policy_failed(error)
        else:
            self._observer.failed(None, ClusterError.of(error))

    def _give_up(self, peer: _Peer, error: Exception) -> None:
        connection = peer.connection
        self._observer.failed(connection, RequestFailedError(connection, None, None, error))
        self._drop(peer)

    def _accept(self, fd: int) -> None:
        for sock, (host, port), broker in self.listeners.accepted(fd):
            host = of_client(host)
            ready = self._ready.append
            connection = Connection(
                self._cluster,
                broker,
                joined(host, port),
                f"/{as_java_has_it(host)}",
                self._observer,
                ready,
                self.faults,
                self.trace,
                self._slice,
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
            self._drop(peer)
            return
        if not size:
            # Like Kafka, which reads on only when it has answered, and notices the end then.
            peer.ended = True
            self._settle(peer)
            return
        if self.wire is not None:
            self.wire.received(connection, bytes((self._view if target is None else target)[:size]))
        if target is None:
            connection.receive(self._view[:size])
        else:
            connection.filled(size)
        self._settle(peer)

    def _flush_ready(self) -> None:
        while self._ready:
            ready, self._ready[:] = list(self._ready), []
            for connection in ready:
                peer = self._by_connection.get(connection)
                if peer is not None:
                    try:
                        self._settle(peer)
                    except Exception as error:
                        self._give_up(peer, error)

    def _catch_up(self) -> None:
        """Continues with connections whose requests were not all answered, and with requests that are done in
        parts: in turn, and for as long as a slice lasts."""
        behind, work, slice_ = self._behind, self._work, self._slice
        end = slice_.clock() + SLICE_SECONDS
        seconds = max(SLICE_SECONDS / (len(behind) + len(work.under_way)), LEAST_SLICE_SECONDS)
        while behind or work:
            if work:
                slice_.end = slice_.clock() + seconds
                work.go_on(self._enough)
            if behind:
                self._resume(behind.popleft(), seconds)
            if slice_.clock() >= end:
                break

    def _resume(self, peer: _Peer, seconds: float) -> None:
        peer.queued = False
        if self._peers.get(peer.fd) is not peer or peer.connection.out:
            return
        self._slice.end = self._slice.clock() + seconds
        try:
            peer.connection.resume()
            self._settle(peer)
        except Exception as error:
            self._give_up(peer, error)

    def _settle(self, peer: _Peer) -> None:
        """Sends what there is, and tells the poller what the connection waits for now."""
        connection = peer.connection
        if connection.out and not self._send(peer):
            return
        if connection.wants_close:
            self._drop(peer)
            return
        events = READ
        if peer.ended:
            if not connection.owes:
                self._drop(peer)
                return
            events = 0
        if connection.waiting:
            if connection.behind and not peer.queued:
                peer.queued = True
                self._behind.append(peer)
            if connection.behind or connection.stuffed:
                events = 0
        if peer.events != events:
            self._watch(peer, events)

    def _send(self, peer: _Peer) -> bool:
        """Sends what there is; False if the peer has to take more first, or is gone."""
        connection = peer.connection
        out = connection.out
        while out:
            try:
                if len(out) == 1:
                    sent = peer.sock.send(out[0])
                else:
                    sent = peer.sock.sendmsg([out[i] for i in range(min(len(out), _BUFFERS_PER_WRITE))])
            except (BlockingIOError, InterruptedError):
                self._watch(peer, WRITE)
                return False
            except OSError:
                self._drop(peer)
                return False
            if self.wire is not None:
                self.wire.sent(connection, b"".join(map(bytes, _first(out, sent))))
            connection.out_bytes -= sent
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

    def _watch(self, peer: _Peer, events: int) -> None:
        if peer.events != events:
            peer.events = events
            self._poller.change(peer.fd, events)

    def _drop(self, peer: _Peer) -> None:
        if self._peers.pop(peer.fd, None) is None:
            return
        self._by_connection.pop(peer.connection, None)
        peer.connection.dropped()
        with contextlib.suppress(OSError, ValueError):
            self._poller.forget(peer.fd)
        if peer.connection.resets:
            with contextlib.suppress(OSError):
                peer.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
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
