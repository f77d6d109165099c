"""The data plane: one task that owns a poller and pumps all ready sockets.

A task per connection would cost an event-loop turn per request. Here a ready socket is read once, the
complete requests in it are answered, and the answers leave in one write.

The pump alone calls the core, and has three occasions for that: bytes came, time went by, or somebody changed
something from outside (a call of the control API, of another thread, of a test) and calls `poke`. Each is
followed by the same steps: timers that are due fire, listeners follow brokers that stopped or started, and
answers that these brought about are written. A change that a handler or a timer makes does not start the
steps again within itself, but once more after them.

No connection may hold up the others. Each has a slice of time, after which its remaining requests wait, and
the connection is not read meanwhile. Such connections take turns with requests that are done in parts, and
all of these have one slice between two polls of the sockets. So a client that sends one request at a time
hardly waits for clients that send thousands. After `TURN_SECONDS` a turn is over, and other tasks get theirs;
if there is nothing to do, the pump sleeps until a socket is ready or the next timer is due. Whoever has the
thread gives the turns: trio (`in_trio`), or a process that does nothing else (`alone`).
"""

import time
from collections.abc import Callable
from typing import Final

from ..cluster.broker import Broker
from ..cluster.cluster import Cluster
from ..environment import Owner
from ..faults import Faults
from ..policies import OwnPolicyError
from ..trace import Trace
from .beside import Beside, has_all_clients
from .clock import Clock
from .failures import ClusterError
from .observer import Observer
from .poller import READ, SOCKETS_PER_LOOK, TURN_SECONDS, WRITE, Looking, new_poller
from .slices import Slice
from .sockets import ClientSockets

PATIENCE_SECONDS: Final = 0.0005
"""How long it waits for more before it yields: a client that sends its next request at once is answered in
the same turn. It does not wait where another cluster in the same thread has clients, who would wait, too."""
EAGER_SECONDS: Final = 0.004
"""The same in a process that serves one cluster: to be woken by trio costs more than some requests do."""
ALONE_SECONDS: Final = 0.05
"""The same where nothing but signals waits."""
SLICE_SECONDS: Final = 0.002
"""How long the sockets of one poll have together; after that, together, connections with requests left."""
LEAST_SLICE_SECONDS: Final = 0.00025
"""The least that each of many connections has; it can finish its current request in any case."""


class Pump:
    """Serves `cluster` on the sockets that `listen` opened, in turns, until it is closed.

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
        self._poller = new_poller()
        self._slice = Slice(monotonic)
        self._enough = lambda: self._slice.over
        self.clock = Clock(cluster, manual_clock)
        self.sockets = ClientSockets(
            cluster, observer, self.faults, self.trace, self._slice, self._poller, self.clock
        )
        self.listeners = self.sockets.listeners
        cluster.environment.failed = self._failed
        self._work = cluster.work
        self._work.in_parts = True
        self._busy = self._poked = False
        self.beside: list[Beside] = []
        """Those that run in this thread."""
        self.on_poke: Callable[[], None] = _alone
        """Called after a change from outside: it may have set a timer that is due before the pump would wake
        up."""
        self._wait = self._poller.poll
        self._patience = PATIENCE_SECONDS

    def be_eager(self, patience: float = EAGER_SECONDS) -> None:
        """Clients run in other processes: it may look for their requests again and again before it sleeps,
        and wait longer for them before it yields, so many seconds."""
        self._wait = Looking(self._poller.poll, self.clock.seconds_left).wait
        self._patience = patience

    def listen(self, broker: Broker) -> None:
        """Listens on the address of `broker`; a port 0 is replaced by the real one. PortInUseError."""
        self.listeners.listen(broker)

    def watch(self, *, bodies: bool = True) -> None:
        """Starts the trace."""
        self.trace.start(bodies=bodies)

    def fileno(self) -> int:
        """Readable when sockets are ready."""
        return self._poller.fileno()

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
                self.sockets.flush_ready()
        finally:
            self._busy = False
        self.on_poke()

    def _follow(self) -> None:
        self.listeners.follow()
        self.listeners.try_ports()
        self.trace.changed()

    def close(self) -> None:
        self.sockets.close()
        self._poller.close()

    def seconds_left(self) -> float:
        """How long it may sleep."""
        if self.sockets.behind or self._work:
            return 0
        left = (
            self.clock.seconds_left(),
            self.listeners.seconds_left(),
            self.trace.ms_left / 1000,
            self.clock.seconds_until(self.sockets.idle_at_ms),
        )
        return min(left)

    def turn(self) -> bool:
        """Pumps until nothing comes, or until the turn is over: then there is more to do."""
        self._busy = True
        try:
            more = self._pump()
        finally:
            self._busy = False
        if not more:
            self.trace.rest()
        return more

    def _pump(self) -> bool:
        poll, sockets, clock, listeners = self._poller.poll, self.sockets, self.clock, self.listeners
        peers, ready, behind = sockets.open, sockets.ready, sockets.behind
        work, slice_ = self._work.under_way, self._slice
        end = slice_.clock() + TURN_SECONDS
        wait, patience = poll, 0.0
        if has_all_clients(self, self.beside):
            wait, patience = self._wait, self._patience
        while True:
            events = poll(0, SOCKETS_PER_LOOK) if behind or work else wait(patience, SOCKETS_PER_LOOK)
            now = time.monotonic()
            elapsed_ms = int((now - clock.started) * 1000)
            if elapsed_ms != clock.elapsed_ms:
                clock.elapse(elapsed_ms)
                listeners.follow()
                self.trace.time_went_by()
                listeners.accept_again()
                if elapsed_ms >= sockets.idle_at_ms:
                    sockets.close_idle()
            if listeners.without_port:
                listeners.try_ports()
            if events:
                # The time that one connection does not use is left to the next.
                seconds = max(SLICE_SECONDS / len(events), LEAST_SLICE_SECONDS)
                slice_.end = slice_.clock()
                for fd, mask in events:
                    peer = peers.get(fd)
                    if peer is None:
                        sockets.accept(fd)
                        continue
                    slice_.end += seconds
                    try:
                        if mask & READ:
                            sockets.read(peer)
                        elif mask & WRITE and peer.connection.out:
                            sockets.settle(peer)
                        elif mask & ~WRITE:
                            sockets.drop(peer)
                    except Exception as error:
                        sockets.give_up(peer, error)
            if self._poked:
                self._poked = False
                self._follow()
            busy = bool(events or behind or work)
            if behind or work:
                self._catch_up()
            if ready:
                sockets.flush_ready()
            if not busy:
                return False
            if slice_.clock() > end:
                return True

    @property
    def has_clients(self) -> bool:
        return bool(self.sockets.open)

    def _failed(self, error: Exception, owner: Owner | None) -> None:
        """An error raised while no handler was running ends the request that waited for it, and nothing
        else."""
        if owner is not None:
            owner.ended_by(error)
        elif isinstance(error, OwnPolicyError):
            self._observer.policy_failed(error)
        else:
            self._observer.failed(None, ClusterError.of(error))

    def _catch_up(self) -> None:
        """Continues with connections whose requests were not all answered, and with requests that are done in
        parts: in turn, and for as long as a slice lasts."""
        behind, work, slice_ = self.sockets.behind, self._work, self._slice
        end = slice_.clock() + SLICE_SECONDS
        seconds = max(SLICE_SECONDS / (len(behind) + len(work.under_way)), LEAST_SLICE_SECONDS)
        while behind or work:
            if work:
                slice_.end = slice_.clock() + seconds
                work.go_on(self._enough)
            if behind:
                self.sockets.resume(behind.popleft(), seconds)
            if slice_.clock() >= end:
                break


def _alone() -> None:
    """For a pump that nobody runs yet, or that nobody pokes."""
