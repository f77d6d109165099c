"""The sockets on which the brokers of a cluster listen: closed when a broker goes down or a verb closes a
listener, opened when it is back."""

import contextlib
import errno
import math
import socket
import time
from collections.abc import Callable, Iterator
from typing import Final

from ..cluster.broker import Broker
from ..cluster.cluster import Cluster
from ..cluster.endpoint import Endpoint
from ..verbs.brokers import start_broker, stop_broker
from .failures import ClusterError
from .listening import PortInUseError, keep, listen, no_file_left
from .observer import Observer
from .poller import READ, Poller

RETRY_SECONDS: Final = 0.25
"""How often a broker whose port is taken checks whether the port is free."""
FULL_SECONDS: Final = 0.1
"""If no more files can be opened, accepting is tried again after this long, or once a connection ends."""
_ACCEPTED_AT_ONCE: Final = 64
_NO_ROOM: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class Listeners:
    """`gone` is called with each listener that was closed, and its broker: its clients are to be dropped."""

    def __init__(
        self, cluster: Cluster, poller: Poller, observer: Observer, gone: Callable[[Broker, Endpoint], None]
    ) -> None:
        self._cluster = cluster
        self._poller = poller
        self._observer = observer
        self._gone = gone
        self._listening: dict[int, tuple[socket.socket, Broker, Endpoint]] = {}
        self._kept: dict[Endpoint, socket.socket] = {}
        """The ports of those that are closed. Another cluster would get their clients otherwise."""
        self._changes = cluster.processes.changes
        self._full = False
        self._full_until = math.inf
        self.without_port: dict[int, str] = {}
        """Brokers whose port was taken when they were started, and what to say about that."""
        self._retry_at = 0.0

    def listen(self, broker: Broker) -> None:
        """Listens on those addresses of `broker` that are not closed; a port 0 is replaced by the real one.
        PortInUseError."""
        opened: list[tuple[socket.socket, Endpoint]] = []
        try:
            for endpoint in self._missing(broker):
                if (kept := self._kept.pop(endpoint, None)) is not None:
                    kept.close()
                opened.append((listen(*endpoint.listens_on), endpoint))
        except PortInUseError:
            for sock, _ in opened:
                sock.close()
            raise
        for sock, endpoint in opened:
            port = sock.getsockname()[1]
            if endpoint.bound is not None:
                endpoint.bound = endpoint.bound[0], port
            endpoint.port = endpoint.port or port
            self._listening[sock.fileno()] = (sock, broker, endpoint)
            self._poller.watch(sock.fileno(), READ)

    def _missing(self, broker: Broker) -> list[Endpoint]:
        """Where it should listen, and does not."""
        there = {endpoint for _, _, endpoint in self._listening.values()}
        return [each for each in broker.endpoints.values() if each.open and each not in there]

    def follow(self) -> None:
        """Closes the listeners of brokers that are down, and those that a verb closed, and opens others
        again."""
        if self._changes == self._cluster.processes.changes:
            return
        self._changes = self._cluster.processes.changes
        for fd, (sock, broker, endpoint) in list(self._listening.items()):
            if not (broker.online and endpoint.open):
                del self._listening[fd]
                self._poller.forget(fd)
                sock.close()
                with contextlib.suppress(PortInUseError):
                    self._kept[endpoint] = keep(*endpoint.listens_on)
                self._gone(broker, endpoint)
        for broker in self._cluster.brokers.values():
            if broker.online and self._missing(broker):
                try:
                    self.listen(broker)
                except PortInUseError as error:
                    self._stay_down(broker, error)
                else:
                    self.without_port.pop(broker.id, None)

    def _stay_down(self, broker: Broker, error: PortInUseError) -> None:
        """Stays down, like a real broker that finds its port taken; it starts again once the port is free."""
        if broker.id not in self.without_port:
            self.without_port[broker.id] = (
                f"broker {broker.id} stays down until its port is free: {error.reason}"
            )
            failure = ClusterError(self.without_port[broker.id])
            failure.__cause__ = error
            self._observer.failed(None, failure)
        self._retry_at = time.monotonic() + RETRY_SECONDS
        stop_broker(self._cluster, broker)
        self._changes = self._cluster.processes.changes

    def try_ports(self) -> None:
        """Tries brokers again whose port was taken, if it is time to."""
        if not self.without_port or time.monotonic() < self._retry_at:
            return
        self._retry_at = time.monotonic() + RETRY_SECONDS
        for broker in list(self.without_port):
            start_broker.attempt(self._cluster, self._cluster.brokers[broker])
        self.follow()

    def accepted(self, fd: int) -> Iterator[tuple[socket.socket, tuple[str, int], Broker, Endpoint]]:
        """New clients of a listener that is ready: their sockets, their addresses, and where they connect
        to."""
        if fd not in self._listening:
            return
        listener, broker, endpoint = self._listening[fd]
        for _ in range(_ACCEPTED_AT_ONCE):
            if (full := no_file_left(fd)) is not None:
                self._accept_nobody(full)
                return
            try:
                sock, address = listener.accept()
            except (BlockingIOError, InterruptedError):
                # Everybody who waited has been accepted: the next time there is no room is reported again.
                self._full = False
                return
            except OSError as error:
                if error.errno in _NO_ROOM:
                    self._accept_nobody(str(error.strerror))
                    return
                continue
            sock.setblocking(False)
            with contextlib.suppress(OSError):
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            yield sock, address[:2], broker, endpoint

    def _accept_nobody(self, why: str) -> None:
        """Until a file is free, new clients wait in the kernel's queue."""
        if not self._full:
            self._full = True
            self._observer.full(f"no more clients are accepted for now ({why}): raise `ulimit -n`")
        self._full_until = time.monotonic() + FULL_SECONDS
        for fd in self._listening:
            self._poller.change(fd, 0)

    def accept_again(self) -> None:
        """Accepts new clients again after it was impossible, if it is time to."""
        if time.monotonic() >= self._full_until:
            self._full_until = math.inf
            for fd in self._listening:
                self._poller.change(fd, READ)

    def file_closed(self) -> None:
        """There is room for another client."""
        if self._full_until < math.inf:
            self._full_until = 0

    def seconds_left(self) -> float:
        """How long until `accept_again` or `try_ports` has something to do."""
        left = self._full_until - time.monotonic()
        return min(left, RETRY_SECONDS) if self.without_port else left

    def close(self) -> None:
        for sock in (*(listening for listening, _, _ in self._listening.values()), *self._kept.values()):
            sock.close()
        self._listening.clear()
        self._kept.clear()
