"""A port of this machine that passes connections on to another one, until it is cut."""

import contextlib
import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

_CHUNK: Final = 65_536


class Proxy:
    """Listens as soon as it is made. Every connection has two threads, which end with it."""

    def __init__(self, target: int, refuses: Callable[[int], bool] = lambda port: False) -> None:
        """`refuses` is asked for every connection, with the port that it comes from."""
        self._target, self._refuses = target, refuses
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._cut = self._mute = False
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Closes all connections, and every new one at once, until `mend`."""
        self._cut = True
        self._close_all()

    def drop(self) -> None:
        """Closes all connections; new ones are passed on."""
        self._close_all()

    def mute(self) -> None:
        """Requests still arrive, but no answers come back, until `mend`."""
        self._mute = True

    def mend(self) -> None:
        """Passes everything on again. Connections whose answers were lost are closed."""
        if self._mute:
            self._close_all()
        self._cut = self._mute = False

    def close(self) -> None:
        self._cut = True
        # A close alone does not wake a thread that accepts.
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._close_all()

    def _close_all(self) -> None:
        with self._lock:
            for each in self._open:
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        while True:
            try:
                client, (_, port) = self._listener.accept()
            except OSError:
                return
            if self._cut or self._refuses(port):
                client.close()
                continue
            try:
                server = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                client.close()
                continue
            with self._lock:
                self._open |= {client, server}
            left = [2]
            for one, other, answers in ((client, server, False), (server, client, True)):
                threading.Thread(target=self._pass, args=(one, other, answers, left), daemon=True).start()

    def _pass(self, one: socket.socket, other: socket.socket, answers: bool, left: list[int]) -> None:
        with contextlib.suppress(OSError):
            while data := one.recv(_CHUNK):
                if not (answers and self._mute):
                    other.sendall(data)
        with contextlib.suppress(OSError):
            other.shutdown(socket.SHUT_RDWR)
        with self._lock:
            left[0] -= 1
            if not left[0]:
                for each in (one, other):
                    self._open.discard(each)
                    each.close()


def belongs(port: int, process: int) -> bool:
    """Whether a process has the socket that connects from a port of this machine (Linux only)."""
    sockets = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            columns = line.split()
            if int(columns[1].rpartition(":")[2], 16) == port:
                sockets.add(f"socket:[{columns[9]}]")
    for each in Path(f"/proc/{process}/fd").iterdir():
        with contextlib.suppress(OSError):  # closed meanwhile
            if os.readlink(each) in sockets:
                return True
    return False
