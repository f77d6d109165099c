"""Sockets that brokers listen on."""

import os
import socket

from ..addresses import joined
from ..errors import MockBrokerError

_BACKLOG = 4096


class PortInUseError(MockBrokerError, OSError):
    """A port that the cluster should listen on is taken; `reason` is the system's message."""

    reason = ""

    def __str__(self) -> str:
        return str(self.strerror)


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 means any free port. PortInUseError."""
    sock = keep(host, port)
    sock.listen(_BACKLOG)
    sock.setblocking(False)
    return sock


def keep(host: str, port: int) -> socket.socket:
    """A socket that has a port, but refuses connections: a program that wants any free port does
    not get this one. PortInUseError."""
    sock = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    if os.name == "posix":
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
    except OSError as error:
        sock.close()
        why = f"can't listen on {joined(host, port)}: {error.strerror}"
        found = PortInUseError(error.errno, f"{why}. Choose another port, or port 0 for any free ones")
        found.reason = why
        raise found from None
    return sock
