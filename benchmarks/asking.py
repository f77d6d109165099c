"""Requests as frames, and answers; connections to a cluster of this process that need no socket."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator
from typing import Any, Final

from mockbroker.cluster.cluster import Cluster
from mockbroker.faults import Faults
from mockbroker.rig.client import decode, encode, flexible, key_of
from mockbroker.server.connection import Connection
from mockbroker.server.observer import SilentObserver
from mockbroker.trace import Trace

Fields = dict[str, Any]

_HEADER: Final = struct.Struct(">ihhih")
_CLIENT_ID: Final = b"path"
_EXPECTED: Final = frozenset({"NONE", "MEMBER_ID_REQUIRED"})


class WrongAnswerError(Exception):
    """An answer has an error."""


def frame(api: str, version: int, fields: Fields, correlation_id: int) -> bytes:
    """A request."""
    body = _CLIENT_ID + b"\0" * flexible(api, version) + encode(api, version, fields)
    return _HEADER.pack(10 + len(body), key_of(api), version, correlation_id, len(_CLIENT_ID)) + body


def read(api: str, version: int, answer: bytes) -> Fields:
    """An answer, with its length in front. WrongAnswerError."""
    found = decode(api, version, answer[4:])
    if errors := set(_errors(found)) - _EXPECTED:
        raise WrongAnswerError(f"{api}: {', '.join(errors)}")
    return found


def _errors(answer: Any) -> Iterator[str]:
    if isinstance(answer, list):
        for each in answer:
            yield from _errors(each)
    elif isinstance(answer, dict):
        for name, value in answer.items():
            yield from [value] if name == "error_code" else _errors(value)


def _ignored(_: Connection) -> None:
    """There is more to send."""


class Asker:
    """A connection to broker 1; several may share faults and trace, as those of a server do."""

    def __init__(self, cluster: Cluster, faults: Faults | None = None, trace: Trace | None = None) -> None:
        broker, observer = cluster.brokers[1], SilentObserver()
        self._connection = Connection(
            cluster, broker, "bench", "/127.0.0.1", observer, _ignored, faults, trace
        )
        self._correlation_ids = itertools.count(1)

    def send(self, api: str, version: int, fields: Fields) -> None:
        request = frame(api, version, fields, next(self._correlation_ids))
        self._connection.receive(memoryview(request))

    def ask(self, api: str, version: int, fields: Fields) -> Fields:
        """WrongAnswerError, also where the answer has to wait."""
        self.send(api, version, fields)
        return self.answer(api, version)

    def answer(self, api: str, version: int) -> Fields:
        """The only one that has not been read. WrongAnswerError."""
        data = b"".join(bytes(part) for part in self._connection.out)
        self._connection.out.clear()
        self._connection.out_bytes = 0
        if not data:
            raise WrongAnswerError(f"{api} is not answered")
        return read(api, version, data)
