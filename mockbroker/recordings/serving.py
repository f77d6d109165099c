"""Serves what the brokers of a recording answered."""

from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Final, cast

import trio

from ..addresses import joined
from ..cluster.call import Call
from ..faults.answers import unknown_server_error
from ..outcome import CLOSE
from ..protocol import schema
from ..protocol.api_keys import ApiKey
from ..protocol.codecs import codec
from ..protocol.headers import MalformedRequestError, parse_header
from ..protocol.messages.heartbeat import HeartbeatResponse
from .addresses import moved
from .exchanges import brokers, steps
from .file import Recording, RecordingError
from .matching import HEARTBEAT, Found, Matcher, content
from .messages import (
    UNREADABLE,
    Asked,
    changed,
    read_answer,
    read_request,
    with_correlation_id,
    write_answer,
)
from .streams import Frames, Listeners, address_of

_API_VERSIONS: Final = "api_versions"
_UNSUPPORTED_VERSION: Final = 35
_LONGEST_S: Final = 60.0
"""No answer is longer in coming."""
Tell = Callable[[str], None]


class Played:
    """What clients were given. `tell` is called with a line for each first request that was not recorded, or
    that differs."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self.counts: Counter[str] = Counter()
        self._told: set[str] = set()

    def count(self, what: str, line: str = "") -> None:
        """`what` is one of answered, again, different, unrecorded."""
        self.counts[what] += 1
        if line and line not in self._told and len(self._told) < 1000:
            self._told.add(line)
            self._tell(line)


class Brokers:
    """The brokers of a recording, on ports of this machine. RecordingError if it has no request."""

    def __init__(self, recording: Recording, host: str, port: int, played: Played) -> None:
        exchanges = [one for kind, one in steps(recording) if kind == "request"]
        if not exchanges:
            raise RecordingError("the recording has no request that could be answered")
        self.matcher = Matcher(exchanges)
        self._played = played
        self._ports = Listeners(host, port)
        self._recorded = list(
            dict.fromkeys([*(one.broker for one in exchanges), *brokers(exchanges).values()])
        )
        self.here: dict[str, tuple[str, int]] = {}

    async def run(self, *, task_status: trio.TaskStatus[list[tuple[str, int]]]) -> None:
        """Serves until it is cancelled; starts with the addresses. PortInUseError."""
        async with trio.open_nursery() as nursery:
            listeners = {each: self._ports.open() for each in self._recorded}
            self.here = {each: address_of(listener) for each, listener in listeners.items()}
            for each, listener in listeners.items():
                nursery.start_soon(trio.serve_listeners, self._handler(each), [listener])
            task_status.started(list(self.here.values()))

    def _handler(self, broker: str) -> Callable[[trio.SocketStream], Any]:
        async def handle(stream: trio.SocketStream) -> None:
            async with stream:
                frames = Frames(stream)
                while (frame := await frames.read()) is not None:
                    if not await self._handle(broker, frames, frame):
                        return

        return handle

    async def _handle(self, broker: str, frames: Frames, frame: bytes) -> bool:
        """Whether the connection goes on."""
        try:
            asked = read_request(frame)
        except UNREADABLE:
            return await self._unread(broker, frames, frame)
        asked = self.matcher.as_recorded(broker, asked)
        found = self.matcher.find(broker, asked)
        if found is None:
            return await self._unrecorded(broker, frames, frame, asked)
        self._count(broker, asked, found)
        one = found.exchange
        if one.answer is None:
            return True
        await trio.sleep(min(one.took_s, _LONGEST_S))
        return await frames.write(self._answer(asked, found))

    def _answer(self, asked: Asked, found: Found) -> bytes:
        one = found.exchange
        assert one.answer is not None
        answer = with_correlation_id(one.answer, asked.correlation_id)
        answer = moved(asked.api, asked.version, answer, self._move)
        try:
            body = read_answer(asked.api, asked.version, answer)
        except UNREADABLE:
            return answer
        new = self.matcher.as_asked(body)
        if found.elsewhere or (found.again and asked.api == "fetch" and not asked.body.topics):
            # In a fetch session nothing says from where on: records would come twice.
            new = changed(new, lambda _, name, value: b"" if name == "records" and value else value)
        return answer if new is body else write_answer(asked.api, asked.version, answer, new)

    def _move(self, _: int | None, host: str, port: int) -> tuple[str, int] | None:
        return self.here.get(joined(host, port))

    def _count(self, broker: str, asked: Asked, found: Found) -> None:
        if not found.differs:
            self._played.count("again" if found.again else "answered")
            return
        recorded = read_request(found.exchange.request)
        parts = _differences(content(recorded.body), content(asked.body))
        what = f"{_shown(asked)} to {broker} differs from request {found.exchange.number}: {'; '.join(parts)}"
        self._played.count("different", what)

    async def _unrecorded(self, broker: str, frames: Frames, frame: bytes, asked: Asked) -> bool:
        if asked.api == _API_VERSIONS:
            return await self._older(frames, asked.correlation_id)
        if asked.api == HEARTBEAT:
            self._played.count("again")
            answer = _encoded(frame, lambda *_: HeartbeatResponse())
            return answer is not None and await frames.write(answer)
        versions = self.matcher.versions(asked.api)
        why = (
            "was not recorded"
            if not versions
            else f"was recorded in version {', '.join(map(str, sorted(versions)))}"
            if asked.version not in versions
            else "was recorded for others: none has these names"
        )
        self._played.count("unrecorded", f"{_shown(asked)} to {broker} {why}: UNKNOWN_SERVER_ERROR")
        answer = _failure(frame)
        return answer is not None and await frames.write(answer)

    async def _unread(self, broker: str, frames: Frames, frame: bytes) -> bool:
        try:
            header = parse_header(frame)
        except MalformedRequestError as error:
            self._played.count("unrecorded", f"no request came to {broker}: {error}")
            return False
        if header.api_key == ApiKey.API_VERSIONS:
            return await self._older(frames, header.correlation_id)
        what = f"API {header.api_key} v{header.api_version}"
        self._played.count("unrecorded", f"{what} to {broker} can't be read: closed")
        return False

    async def _older(self, frames: Frames, correlation_id: int) -> bool:
        """Has the client ask for the versions as it was recorded, as brokers do with one that is too new."""
        highest = max(self.matcher.versions(_API_VERSIONS), default=-1)
        if highest < 0:
            self._played.count("unrecorded", "ApiVersions was not recorded: closed")
            return False
        head = correlation_id.to_bytes(4, signed=True)
        body = b"\0" + bytes([_UNSUPPORTED_VERSION]) + b"\0\0\0\1" + b"\0\x12\0\0" + highest.to_bytes(2)
        return await frames.write(head + body)


def _failure(frame: bytes) -> bytes | None:
    """UNKNOWN_SERVER_ERROR for all that a request names; None if that has no answer."""
    try:
        return _encoded(frame, unknown_server_error)
    except (ValueError, AttributeError, KeyError, TypeError):
        return None


def _encoded(frame: bytes, answer_to: Callable[[Call, ApiKey, Any], Any]) -> bytes | None:
    """The answer to a request; None if it has none."""
    header = parse_header(frame)
    known = codec(header.api_key, header.api_version)
    call = cast(Call, SimpleNamespace(version=header.api_version))
    answer = answer_to(call, ApiKey(header.api_key), known.decode(frame, header.size))
    if answer is CLOSE:
        return None
    parts = known.encode(header.correlation_id, answer)
    return (b"".join(parts) if isinstance(parts, list) else bytes(parts))[4:]


def _shown(asked: Asked) -> str:
    return f"{schema.class_name(asked.api)} v{asked.version} of {asked.client_id or 'no client id'}"


def _differences(recorded: Any, asked: Any) -> list[str]:
    from ..conformance.diff import differing

    every = [f"{path}: {left} was recorded, {right} came" for path, left, right in differing(recorded, asked)]
    return every[:3] + ([f"and {len(every) - 3} more"] if len(every) > 3 else [])
