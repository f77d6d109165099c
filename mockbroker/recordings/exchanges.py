"""What a recording has, by connection: requests with their answers; or as messages, as captures have them."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..addresses import joined, parted
from ..captures import Frame, Message, decoded
from .file import Line, Recording
from .messages import UNREADABLE, entities, read_answer, read_request

Address = tuple[str, int]


@dataclass(slots=True)
class Exchange:
    """A request, by its number in the recording, and its answer, if there is one. `api` is in snake case, and
    None if there is no schema."""

    number: int
    connection: int
    client: str
    broker: str
    at_us: int
    request: bytes
    answer: bytes | None = None
    answered_us: int | None = None
    api: str | None = None
    version: int = -1

    @property
    def took_s(self) -> float:
        """How long it took; 0 without an answer."""
        return 0 if self.answered_us is None else max(self.answered_us - self.at_us, 0) / 1e6


Step = tuple[str, Exchange]
"""`request` or `answer`, and the exchange that it is of."""


def steps(recording: Recording) -> Iterator[Step]:
    """Requests and answers in the order in which they came. RecordingError."""
    ends: dict[int, tuple[str, str]] = {}
    asked: dict[int, deque[Exchange]] = {}
    number = 0
    for line in recording.lines:
        if line.opened is not None:
            ends[line.connection], asked[line.connection] = line.opened, deque()
        elif line.request is not None and line.connection in ends:
            number += 1
            one = Exchange(number, line.connection, *ends[line.connection], line.at_us, line.request)
            _name(one)
            asked[line.connection].append(one)
            yield "request", one
        elif line.answer is not None and (found := _asked(asked.get(line.connection), line.answer)):
            found.answer, found.answered_us = line.answer, line.at_us
            yield "answer", found


def _asked(waiting: deque[Exchange] | None, answer: bytes) -> Exchange | None:
    while waiting:
        one = waiting.popleft()
        if one.request[4:8] == answer[:4]:
            return one
    return None


def _name(one: Exchange) -> None:
    try:
        asked = read_request(one.request)
    except UNREADABLE:
        return
    one.api, one.version = asked.api, asked.version


def brokers(exchanges: Sequence[Exchange]) -> dict[int, str]:
    """The address of each broker that answers named, by its id; the last one if it has moved."""
    found: dict[int, str] = {}
    for one in exchanges:
        if one.answer is None or one.api not in ("metadata", "describe_cluster", "find_coordinator"):
            continue
        try:
            body = read_answer(one.api, one.version, one.answer)
        except UNREADABLE:
            continue
        for entity in entities(body):
            node = getattr(entity, "node_id", getattr(entity, "broker_id", None))
            host, port = getattr(entity, "host", ""), getattr(entity, "port", -1)
            if isinstance(node, int) and node >= 0 and host:
                found[node] = joined(host, port)
    return found


def messages(recording: Recording) -> Iterator[Message]:
    """Requests and answers, as captures have them."""
    return decoded(_frames(recording.lines))


def _frames(lines: Sequence[Line]) -> Iterator[Frame]:
    ends: dict[int, tuple[Address, Address]] = {}
    for line in lines:
        if line.opened is not None:
            ends[line.connection] = (parted(line.opened[0]), parted(line.opened[1]))
        elif line.connection in ends and (data := line.request or line.answer):
            if line.request is None and len(data) < 4:
                continue
            yield Frame(line.at_us, line.connection, *ends[line.connection], line.request is not None, data)
