"""What has to come back on one connection: readable answers to the requests that were sent, in order."""

import dataclasses
import functools
import struct
from collections import deque
from typing import Any, Final

from kio.serial import entity_reader
from kio.serial.errors import OutOfBoundValue

from ...rig.client import api_keys, kio_versions
from .requests import schema
from .values import LEARNT, WITNESS, Known

_SILENT: Final = frozenset((0, 27, 33))
"""Some of these have no answer: Produce with acks=0, AlterConfigs and WriteTxnMarkers that name something
twice."""
_API_VERSIONS: Final = 18
_UNSUPPORTED: Final = b"\0\x23"
_MOST: Final = 100 * 1024 * 1024
_TOLD: Final = frozenset(
    ("metadata", "fetch", "join_group", "create_topics", "init_producer_id", "describe_topic_partitions")
)
_WITHOUT_TIME: Final = frozenset(
    {
        "create_delegation_token",
        "describe_transactions",
        "expire_delegation_token",
        "renew_delegation_token",
    }
)
"""APIs whose answers may have the time -1, which kio refuses: the transaction has not begun, or there is no
token."""


class Finding(Exception):  # noqa: N818
    """Something that must not happen. `kind` is a word for it; the text is for people."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(f"{kind}: {text}")
        self.kind = kind


class Dialogue:
    """One connection, as its client sees it. If it is not `strict`, answers may be delayed, truncated or
    changed."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._out = bytearray()
        self._in = bytearray()
        self._ends = False
        self._waited: deque[tuple[int, int, int]] = deque()
        self.answers = 0
        self.strict = True

    def sent(self, data: bytes) -> None:
        """Bytes were sent to the broker."""
        if self._ends:
            return
        self._out += data
        at = 0
        while len(self._out) - at >= 4:
            (size,) = struct.unpack_from(">i", self._out, at)
            if not 0 <= size <= _MOST:
                self._ends = True
                break
            if len(self._out) - at < 4 + size:
                break
            if size >= 8:
                self._waited.append(struct.unpack_from(">hhi", self._out, at + 4))
            at += 4 + size
        del self._out[:at]

    def got(self, data: bytes) -> None:
        """Bytes were received. Finding."""
        if not self.strict:
            return
        self._in += data
        while len(self._in) >= 4:
            (size,) = struct.unpack_from(">i", self._in)
            if size < 4:
                raise Finding("unreadable answer", f"an answer of {size} bytes")
            if len(self._in) < 4 + size:
                return
            frame = bytes(self._in[4 : 4 + size])
            del self._in[: 4 + size]
            self._read(frame)

    def quiet(self) -> bool:
        """Whether nothing is outstanding: all requests that have an answer have got the whole of it."""
        return not self._in and all(key in _SILENT for key, _, _ in self._waited)

    def owed(self) -> str:
        return ", ".join(f"api {key} v{version} #{number}" for key, version, number in self._waited)

    def _read(self, frame: bytes) -> None:
        (correlation_id,) = struct.unpack_from(">i", frame)
        while self._waited and self._waited[0][2] != correlation_id and self._waited[0][0] in _SILENT:
            self._waited.popleft()
        if not self._waited or self._waited[0][2] != correlation_id:
            raise Finding("wrong order", f"an answer #{correlation_id}, owed: {self.owed() or 'none'}")
        key, version, _ = self._waited.popleft()
        self.answers += 1
        api = api_keys().get(key)
        if api is None:
            raise Finding("unreadable answer", f"an answer to api {key} v{version}")
        if version not in kio_versions(api):
            if key != _API_VERSIONS:
                return  # OffsetForLeaderEpoch 0 and 1, which kio has not
            version = 0
        if key == _API_VERSIONS and frame[4:6] == _UNSUPPORTED:
            version = 0
        self._decode(api, version, frame)

    def _decode(self, api: str, version: int, frame: bytes) -> None:
        read, offset = _reader(api, version)
        try:
            entity, size = read(frame, offset)
        except Exception as error:
            if isinstance(error, OutOfBoundValue) and api in _WITHOUT_TIME:
                return
            raise Finding("unreadable answer", f"{api} v{version}: {error!r} {frame[:200].hex()}") from error
        if offset + size != len(frame) and size != len(frame):
            text = f"{api} v{version}: {len(frame)} bytes, read {size} from {offset}"
            raise Finding("unreadable answer", text)
        if api in _TOLD:
            self._learn(entity)

    def _learn(self, entity: Any) -> None:
        if getattr(entity, "name", None) == WITNESS:
            return
        for each in dataclasses.fields(entity):
            value = getattr(entity, each.name)
            if each.name in LEARNT and value not in (-1, "", None):
                self._known.learn(each.name, value)
            elif type(value) is tuple and value and dataclasses.is_dataclass(value[0]):
                for inner in value[:4]:
                    self._learn(inner)


@functools.cache
def _reader(api: str, version: int) -> tuple[Any, int]:
    """The reader of an answer's body, and where that begins."""
    answer = schema(api, version, "response")
    return entity_reader(answer), 5 if answer.__header_schema__.__version__ == 1 else 4
