"""Requests that the broker has not answered yet."""

import struct
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ..protocol.answers import AnswerCodec, answer_codec
from ..protocol.api_keys import ApiKey
from ..protocol.headers import MalformedRequestError
from .rewriting import names_brokers

if TYPE_CHECKING:
    from ..trace.exchanges import Asked

TOKEN: Final = -1
"""In place of the API key of what has no header."""
_UNSUPPORTED_VERSION: Final = 35
_CORRELATION_ID: Final = struct.Struct(">i").unpack_from


class Pending:
    """A request that the broker has not answered yet. `take` takes the answer, unless that goes straight to
    the client; with `own`, the request is not the client's. `asked` is what the trace has of it."""

    __slots__ = ("asked", "correlation_id", "key", "own", "take", "version")

    def __init__(
        self,
        key: int,
        version: int,
        correlation_id: int,
        take: Callable[[Any], None] | None = None,
        *,
        own: bool = False,
        asked: "Asked | None" = None,
    ) -> None:
        self.key = key
        self.version = version
        self.correlation_id = correlation_id
        self.take = take
        self.own = own
        self.asked = asked

    @property
    def passes(self) -> bool:
        """Whether the answer passes as it is."""
        if self.take is not None or self.asked is not None:
            return False
        return self.key == TOKEN or not names_brokers(self.key, self.version)

    def codec_of(self, answer: bytes) -> AnswerCodec:
        """Brokers answer an ApiVersions of a version that they don't know as v0 (KIP-511)."""
        unknown = self.key == ApiKey.API_VERSIONS and answer[4:6] == _UNSUPPORTED_VERSION.to_bytes(2)
        return answer_codec(self.key, 0 if unknown else self.version)


class Awaited:
    """Those of one connection, in order."""

    def __init__(self) -> None:
        self._all: deque[Pending] = deque()

    def __bool__(self) -> bool:
        return bool(self._all)

    def add(self, pending: Pending) -> None:
        self._all.append(pending)

    def passes(self, whole: bytes) -> bool:
        """Whether the frame, with its length, is the answer to the first of them, and passes as it is."""
        if not self._all or len(whole) < 8:
            return False
        first = self._all[0]
        return first.passes and first.correlation_id == _CORRELATION_ID(whole, 4)[0]

    def answered_by(self, answer: bytes, at: int = 0) -> Pending:
        """The first of them, which an answer is for that begins like this, `at` so many bytes.
        MalformedRequestError."""
        if self._all and self._all[0].key == TOKEN:
            return self._all[0]
        if len(answer) < at + 4 or not self._all:
            raise MalformedRequestError("it sent what no request asked for")
        (correlation_id,), first = _CORRELATION_ID(answer, at), self._all[0]
        if correlation_id != first.correlation_id:
            raise MalformedRequestError(
                f"it answered request {correlation_id}, although {first.correlation_id} came before"
            )
        return first

    def first_is_answered(self) -> None:
        self._all.popleft()
