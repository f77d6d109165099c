"""Writes what goes over the wire to a packet capture."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from ..addresses import parted
from ..protocol.pcapng import ACK, FIN, MAX_PAYLOAD, PUSH, SYN, Address, Segment, Writer
from .failures import OutputLostError
from .observer import ClientConnection


class Wire(Protocol):
    """Is told the bytes of every connection."""

    def opened(self, connection: ClientConnection) -> None: ...
    def received(self, connection: ClientConnection, data: bytes) -> None: ...
    def sent(self, connection: ClientConnection, data: bytes) -> None: ...
    def closed(self, connection: ClientConnection) -> None: ...


class Capture:
    """Writes a pcapng file, and overwrites one that exists. OSError if it can't be opened; `lost` is called
    once if it can no longer be written."""

    def __init__(self, path: Path, lost: Callable[[OutputLostError], None]) -> None:
        self._path = path
        self._lost = lost
        self._whole = True
        self._file = path.open("wb")
        self._writer = Writer(self._file)
        self._streams: dict[ClientConnection, _Stream] = {}

    def opened(self, connection: ClientConnection) -> None:
        stream = self._streams[connection] = _Stream(connection)
        self._write(stream, from_client=True, flags=SYN)
        self._write(stream, from_client=False, flags=SYN | ACK)
        self._write(stream, from_client=True, flags=ACK)

    def received(self, connection: ClientConnection, data: bytes) -> None:
        self._data(connection, data, from_client=True)

    def sent(self, connection: ClientConnection, data: bytes) -> None:
        self._data(connection, data, from_client=False)

    def closed(self, connection: ClientConnection) -> None:
        if stream := self._streams.pop(connection, None):
            self._write(stream, from_client=False, flags=FIN | ACK)
            self._write(stream, from_client=True, flags=FIN | ACK)

    def close(self) -> None:
        try:
            self._file.close()
        except OSError as error:
            self._lose(error)

    def _data(self, connection: ClientConnection, data: bytes, *, from_client: bool) -> None:
        stream = self._streams[connection]
        for start in range(0, len(data), MAX_PAYLOAD):
            part = data[start : start + MAX_PAYLOAD]
            self._write(stream, from_client=from_client, flags=PUSH | ACK, payload=part)

    def _write(self, stream: "_Stream", *, from_client: bool, flags: int, payload: bytes = b"") -> None:
        now_us = time.time_ns() // 1000
        segment = stream.segment(now_us, from_client, flags, payload)
        if not self._whole:
            return
        try:
            self._writer.write(segment)
            self._file.flush()
        except OSError as error:
            self._lose(error)

    def _lose(self, error: OSError) -> None:
        if self._whole:
            self._whole = False
            self._lost(OutputLostError(self._path, error))


class _Stream:
    """Addresses and sequence numbers of one connection."""

    def __init__(self, connection: ClientConnection) -> None:
        host, port = parted(connection.name)
        self._client: Address = (host, port)
        self._broker: Address = (host, connection.broker.told_at(connection.client.listener).listens_on[1])
        self._next = {True: 0, False: 0}

    def segment(self, time_us: int, from_client: bool, flags: int, payload: bytes) -> Segment:
        ends = (self._client, self._broker) if from_client else (self._broker, self._client)
        acknowledged = self._next[not from_client] if flags & ACK else 0
        found = Segment(time_us, *ends, self._next[from_client], acknowledged, flags, payload)
        self._next[from_client] += len(payload) + bool(flags & (SYN | FIN))
        return found
