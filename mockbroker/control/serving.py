"""Serves an application over HTTP, and says in few lines what goes wrong."""

import contextlib
import functools
import logging
import socket
import sys
from collections.abc import Iterator
from typing import Final, cast

import trio
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.config import Config
from hypercorn.trio.tcp_server import TCPServer
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import ASGIFramework, ConnectionState, LifespanState
from starlette.types import ASGIApp

from ..repeats import SECONDS, Repeats, counted

UNREAD_S: Final = 10
"""A client that reads nothing for this long is given up. Hypercorn would wait for it even at the end."""
_USER_TIMEOUT: Final = getattr(socket, "TCP_USER_TIMEOUT", None)
"""There is none on macOS."""
_ACCEPTING: Final = logging.getLogger("trio.serve_listeners")
"""Where trio says that it can't accept a client, with a traceback, ten times a second."""


async def serve_app(application: ASGIApp, sock: socket.socket, *, task_status: trio.TaskStatus[None]) -> None:
    """Serves an application on `sock`, which it owns from now on, until cancelled."""
    if _USER_TIMEOUT is not None:
        # Accepted sockets inherit it.
        sock.setsockopt(socket.IPPROTO_TCP, _USER_TIMEOUT, UNREAD_S * 1000)
    with _complaints() as complaints:
        config = Config()
        config.loglevel = "ERROR"
        config.errorlog = complaints.log
        config.include_server_header = False
        app, state = ASGIWrapper(cast("ASGIFramework", application)), ConnectionState(LifespanState())
        handler = functools.partial(_Connection, app, config, WorkerContext(None), state)
        listeners = [trio.SocketListener(trio.socket.from_stdlib_socket(sock))]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(complaints.sum_up_at_times)
            await nursery.start(functools.partial(trio.serve_listeners, handler, listeners))
            task_status.started()


class _Connection(TCPServer):
    """A connection that ends once its client has left. Hypercorn keeps it for five seconds more, and some of
    the sockets, too: hundreds of tests would take all files that a process may open."""

    async def _read_data(self) -> None:
        await super()._read_data()
        await self.idle_task.stop()


class _Complaints(logging.Filter):
    """Lets those through that are new, and counts the others."""

    def __init__(self) -> None:
        super().__init__()
        self._repeats = Repeats(self._repeated)
        self.log = logging.Logger("mockbroker.control", logging.ERROR)
        self.log.addHandler(logging.StreamHandler(sys.stderr))
        self.log.addFilter(self)

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if record.name == _ACCEPTING.name and isinstance(error, OSError):
            why = f"no more clients are accepted over HTTP for now ({error.strerror}): raise `ulimit -n`"
            record.msg, record.args, record.exc_info = why, (), None
        what = record.getMessage() if record.exc_info is None else f"{type(error).__name__}: {error}"
        return record.name == "" or self._repeats.is_new("control", what)

    async def sum_up_at_times(self) -> None:
        while True:
            await trio.sleep(SECONDS)
            self.sum_up()

    def sum_up(self) -> None:
        self._repeats.sum_up()

    def _repeated(self, _: str, line: str, count: int, seconds: float) -> None:
        self.log.handle(
            logging.makeLogRecord({"msg": counted(line, count, seconds), "levelno": logging.ERROR})
        )


@contextlib.contextmanager
def _complaints() -> Iterator[_Complaints]:
    complaints = _Complaints()
    _ACCEPTING.addFilter(complaints)
    try:
        yield complaints
    finally:
        _ACCEPTING.removeFilter(complaints)
        complaints.sum_up()
