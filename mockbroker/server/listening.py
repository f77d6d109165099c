"""Sockets that brokers listen on."""

import os
import socket
import sys
from typing import Final

from ..addresses import joined
from ..errors import MockBrokerError

if sys.platform != "win32":
    import resource

_BACKLOG: Final = 4096
_MOST_RESERVED: Final = 16
"""How many of the files that the process may open are never used for clients of brokers: the control API and
the program that the cluster runs in need some. With a low limit, a sixteenth of it."""


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


def no_file_left(fd: int) -> str | None:
    """Why no file is left for a client of a broker, if that is so. `fd` is any open file."""
    if sys.platform == "win32":
        return None
    try:
        # The system gives the lowest number that is free.
        lowest = os.dup(fd)
    except OSError as error:
        return str(error.strerror)
    os.close(lowest)
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit == resource.RLIM_INFINITY or lowest < limit - min(_MOST_RESERVED, limit // 16):
        return None
    return f"{lowest} of {limit} files are open"
