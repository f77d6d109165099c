"""The least that a broker in Python could do: an epoll loop that answers each Produce with a success, and
looks at nothing of it. What a broker takes above this is its own; the rest is the kernel's and Python's.

Writes its address, then serves until it is ended.
"""

from __future__ import annotations

import select
import socket
import struct
import sys
from collections.abc import Callable
from typing import Final

from mockbroker.protocol.api_keys import ApiKey

_PRODUCE: Final = struct.pack(">h", ApiKey.PRODUCE)
_HEADER: Final = struct.Struct(">ihhi")
_VERSIONS: Final = (
    (ApiKey.PRODUCE, 3),
    (ApiKey.FETCH, 4),
    (ApiKey.METADATA, 1),
    (ApiKey.INIT_PRODUCER_ID, 0),
)
"""The only version of each; none is flexible."""


class Echo:
    """It has one topic at a time, that of the last Metadata request, whose partition 0 has only records of
    batches of one."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._log_end = 0
        self._topic = b""
        self._produced: tuple[bytes, bytes] = b"", b""
        self._slow: dict[int, Callable[[], bytes]] = {
            ApiKey.API_VERSIONS: self._versions,
            ApiKey.FETCH: self._fetch,
            ApiKey.METADATA: self._metadata,
            ApiKey.INIT_PRODUCER_ID: lambda: struct.pack(">ihqh", 0, 0, 1, 0),
        }

    def answers(self, data: bytes) -> tuple[bytes, bytes]:
        """To the whole frames in `data`, and what is behind them."""
        out = b""
        while len(data) >= (size := 4 + int.from_bytes(data[:4], "big")):
            if data[4:6] == _PRODUCE:
                before, after = self._produced
                out += before + data[8:12] + after[:-20] + self._log_end.to_bytes(8, "big") + after[-12:]
                self._log_end += 1
            else:
                out += self._slowly(data[:size])
            data = data[size:]
        return out, data

    def _slowly(self, frame: bytes) -> bytes:
        _, key, _, correlation = _HEADER.unpack_from(frame)
        if key == ApiKey.METADATA:
            body = frame[14 + int.from_bytes(frame[12:14], "big") :]
            self._topic, self._log_end = body[4 : 6 + int.from_bytes(body[4:6], "big")], 0
            partition = struct.pack(">iihqqi", 1, 0, 0, 0, -1, 0)
            answer = struct.pack(">i", 1) + self._topic + partition
            self._produced = struct.pack(">i", 4 + len(answer)), answer
        answer = self._slow[key]()
        return struct.pack(">ii", 4 + len(answer), correlation) + answer

    def _versions(self) -> bytes:
        versions = [struct.pack(">hhh", key, only, only) for key, only in _VERSIONS]
        return struct.pack(">hi", 0, len(versions)) + b"".join(versions)

    def _metadata(self) -> bytes:
        broker = struct.pack(">iih9sih", 1, 1, 9, b"127.0.0.1", self._port, -1)
        partition = struct.pack(">ihiiiiii", 1, 0, 0, 1, 1, 1, 1, 1)
        return broker + struct.pack(">iih", 1, 1, 0) + self._topic + b"\0" + partition

    def _fetch(self) -> bytes:
        partition = struct.pack(">iihqqii", 1, 0, 0, self._log_end, self._log_end, 0, 0)
        return struct.pack(">ii", 0, 1) + self._topic + partition


def main() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=4096) as listening:
        port = listening.getsockname()[1]
        sys.stdout.write(f"127.0.0.1:{port}\n")
        sys.stdout.flush()
        echo, epoll, sockets = Echo(port), select.epoll(), {}
        torn: dict[int, bytes] = {}
        epoll.register(listening, select.EPOLLIN)
        while True:
            for descriptor, _ in epoll.poll():
                if descriptor == listening.fileno():
                    accepted, _ = listening.accept()
                    accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    epoll.register(accepted, select.EPOLLIN)
                    sockets[accepted.fileno()], torn[accepted.fileno()] = accepted, b""
                elif data := sockets[descriptor].recv(1 << 18):
                    answers, torn[descriptor] = echo.answers(torn[descriptor] + data)
                    sockets[descriptor].sendall(answers)
                else:
                    sockets.pop(descriptor).close()


if __name__ == "__main__":
    main()
