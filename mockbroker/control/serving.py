"""Serves an application over HTTP, and says in few lines what goes wrong."""

import contextlib
import logging
import socket
import sys
from collections.abc import Iterator
from typing import Final

import trio
from hypercorn.config import Config
from hypercorn.trio import serve as hypercorn_serve
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
        config.bind = [f"fd://{sock.detach()}"]
        config.loglevel = "ERROR"
        config.errorlog = complaints.log
        config.include_server_header = False
        async with trio.open_nursery() as nursery:
            nursery.start_soon(complaints.sum_up_at_times)
            await nursery.start(hypercorn_serve, application, config)
            task_status.started()


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
