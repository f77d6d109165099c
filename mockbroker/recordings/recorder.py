"""Takes the frames of connections, leaves out what a recording must not have, and writes the rest."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from ..addresses import joined
from ..captures import Frame
from ..protocol.headers import MalformedRequestError, parse_header
from .file import Line, Writer
from .hiding import hiding
from .messages import (
    UNREADABLE,
    answered,
    changed,
    correlation_id_of,
    name_of,
    read_answer,
    read_request,
    write_answer,
    write_request,
)

_HANDSHAKE: Final = 17
_API_VERSIONS: Final = "api_versions"
_HEADER_BYTES: Final = 4


@dataclass(slots=True)
class Counts:
    """What was recorded. `unreadable` frames have no schema, so nothing but their header was kept."""

    connections: int = 0
    requests: int = 0
    answers: int = 0
    unreadable: int = 0
    lost: set[int] = field(default_factory=set)
    """Connections of which what came later can't be read."""


@dataclass(slots=True)
class _Asked:
    """A request that was not answered yet; without an API it is a token of a login."""

    correlation_id: int
    api: str | None
    version: int


@dataclass(slots=True)
class _Connection:
    asked: deque[_Asked] = field(default_factory=deque)
    bare_tokens: bool = False
    """Whether what follows may be tokens without a header, as after SaslHandshake 0."""


class Recorder:
    """Writes what it is told to a recording. `values`: what records say is kept."""

    def __init__(self, writer: Writer, *, values: bool) -> None:
        self.counts = Counts()
        self._writer = writer
        self._change = hiding(values=values)
        self._open: dict[int, _Connection] = {}

    def opened(self, at_us: int, connection: int, client: str, broker: str) -> None:
        """A client has connected; addresses are host and port."""
        self._open[connection] = _Connection()
        self.counts.connections += 1
        self._writer.write(Line(at_us, connection, opened=(client, broker)))

    def closed(self, at_us: int, connection: int) -> None:
        """Does nothing if it is closed already."""
        if self._open.pop(connection, None) is not None:
            self._writer.write(Line(at_us, connection, closed=True))

    def request(self, at_us: int, connection: int, frame: bytes) -> None:
        """A frame, without its size."""
        state = self._open[connection]
        kept = self._request(state, frame)
        if kept is None:
            self._writer.write(Line(at_us, connection, token=len(frame)))
            return
        self.counts.requests += 1
        self._writer.write(Line(at_us, connection, request=kept))

    def answer(self, at_us: int, connection: int, frame: bytes) -> None:
        """A frame, without its size. One that nobody asked for is not written."""
        state = self._open[connection]
        if state.asked and state.asked[0].api is None:
            state.asked.popleft()
            return
        try:
            correlation_id = correlation_id_of(frame)
        except ValueError:
            self.counts.unreadable += 1
            return
        asked = answered(state.asked, correlation_id)
        if asked is None:
            self.counts.unreadable += 1
            return
        self.counts.answers += 1
        self._writer.write(Line(at_us, connection, answer=self._answer(asked, frame)))

    def _request(self, state: _Connection, frame: bytes) -> bytes | None:
        """The request as it is kept; None for a token."""
        try:
            header = parse_header(frame)
        except MalformedRequestError:
            header = None
        api = None if header is None else name_of(header.api_key)
        try:
            asked = read_request(frame)
        except UNREADABLE:
            if state.bare_tokens or header is None:
                state.asked.append(_Asked(-1, None, 0))
                return None
            state.asked.append(_Asked(header.correlation_id, api or "?", header.api_version))
            if api == _API_VERSIONS:
                return frame
            self.counts.unreadable += 1
            return frame[: header.size] + bytes(len(frame) - header.size)
        assert header is not None
        state.bare_tokens = state.bare_tokens or (header.api_key, asked.version) == (_HANDSHAKE, 0)
        state.asked.append(_Asked(asked.correlation_id, asked.api, asked.version))
        body = changed(asked.body, self._change)
        return frame if body is asked.body else write_request(asked, body)

    def _answer(self, asked: _Asked, frame: bytes) -> bytes:
        assert asked.api is not None
        if asked.api == _API_VERSIONS:
            return frame
        try:
            body = read_answer(asked.api, asked.version, frame)
        except UNREADABLE:
            self.counts.unreadable += 1
            return frame[:_HEADER_BYTES] + bytes(len(frame) - _HEADER_BYTES)
        new = changed(body, self._change)
        return frame if new is body else write_answer(asked.api, asked.version, frame, new)


def record(frames: Iterable[Frame], recorder: Recorder) -> None:
    """Records what a capture has. An unreadable connection is recorded up to there."""
    known: set[int] = set()
    for each in frames:
        if each.data is None:
            recorder.closed(each.time_us, each.connection)
            continue
        if each.connection in recorder.counts.lost:
            continue
        if each.connection not in known:
            known.add(each.connection)
            recorder.opened(each.time_us, each.connection, joined(*each.client), joined(*each.broker))
        if isinstance(each.data, str):
            recorder.counts.lost.add(each.connection)
            recorder.closed(each.time_us, each.connection)
        elif each.is_request:
            recorder.request(each.time_us, each.connection, each.data)
        else:
            recorder.answer(each.time_us, each.connection, each.data)
