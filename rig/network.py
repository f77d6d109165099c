"""How questions reach a broker, and whose time they see: sockets and this machine's unless told otherwise."""

import socket
import time
from typing import Final, Protocol


class Stream(Protocol):
    """What a client does with a connected socket."""

    def sendall(self, data: bytes, /) -> None: ...
    def shutdown(self, how: int, /) -> None: ...
    def recv(self, count: int, /) -> bytes:
        """Up to this many bytes; none if the broker has closed the connection. TimeoutError."""

    def settimeout(self, seconds: float, /) -> None: ...
    def getsockname(self) -> tuple[str, int]: ...
    def close(self) -> None: ...


class Network(Protocol):
    def connect(self, host: str, port: int, timeout_s: float) -> Stream: ...

    def now_s(self) -> float:
        """Unix time. It does not go back while a question is asked."""

    def sleep(self, seconds: float) -> None: ...


class Sockets:
    def __init__(self) -> None:
        self._ahead_s = time.time() - time.monotonic()

    def connect(self, host: str, port: int, timeout_s: float) -> Stream:
        return socket.create_connection((host, port), timeout_s)

    def now_s(self) -> float:
        return time.monotonic() + self._ahead_s

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


SOCKETS: Final = Sockets()
