"""Codecs of which each connection has its own, because they remember what its client sends."""

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from . import reading, writing
from .api_keys import ApiKey
from .codec import Codec, Frame, shared
from .fetch import FetchReader, FetchWriter
from .headers import skip_tags
from .primitives import FrameBuffer
from .produce import Data, Like, ProduceReader, ProduceWriter


@functools.cache
def _produce_writer(version: int) -> ProduceWriter:
    return ProduceWriter(version, shared(ApiKey.PRODUCE, version)._write)


class ProduceCodec(Codec):
    """For Produce: remembers a connection's last request, because the next one is much alike; answers to
    different connections are alike, too."""

    __slots__ = ("_frames", "like_an_earlier")

    _read: ProduceReader
    keeps_view = True

    def __init__(self, version: int) -> None:
        self.api_key = ApiKey.PRODUCE
        self.version = version
        self.upgrade = self.downgrade = None
        self.flexible = self.tagged_answer = version >= 9
        self._in_parts = None
        self._new_frame = bytearray
        self._write = shared(ApiKey.PRODUCE, version)._write
        self._read = ProduceReader(version)
        self._frames = _produce_writer(version)
        self.like_an_earlier = self._frames.like_an_earlier

    def decode(self, frame: bytes | memoryview, offset: int) -> Any:
        try:
            if self.flexible:
                offset = offset + 1 if frame[offset] == 0 else skip_tags(frame, offset)
            return self._read(frame, offset)
        except reading.READ_ERRORS as error:
            raise self._malformed(error) from error

    def like_the_last(self, frame: Data, offset: int) -> tuple[Like, Data] | None:
        """As `ProduceReader.like_the_last`, and None also for a request that can't be read."""
        try:
            if self.flexible:
                if frame[offset]:
                    return None
                offset += 1
            return self._read.like_the_last(frame, offset)
        except reading.READ_ERRORS:
            return None

    def encode(self, correlation_id: int, response: Any, most: float = math.inf) -> Frame:
        return self._frames.frame(correlation_id, response) or super().encode(correlation_id, response, most)


class FetchCodec(Codec):
    """For Fetch: remembers requests and answers of one partition, one codec per connection."""

    _LEAST_LIMIT: Final = 1024
    """Answers for one partition have fewer bytes than this, records not counted."""

    __slots__ = ("_frames", "_shared")

    def __init__(self, version: int) -> None:
        self.api_key = ApiKey.FETCH
        self.version = version
        self.upgrade = self.downgrade = None
        self.flexible = self.tagged_answer = version >= 12
        self._shared = shared(ApiKey.FETCH, version)
        self._new_frame, self._write = FrameBuffer, self._shared._write
        self._read = FetchReader(self._shared._read)
        self._frames = FetchWriter(version, self._write)

    def _functions_in_parts(self) -> tuple[reading.ReaderInParts, writing.WriterInParts]:
        return self._shared._functions_in_parts()

    def encode(self, correlation_id: int, response: Any, most: float = math.inf) -> Frame:
        frame = self._frames.frame(correlation_id, response) if most >= self._LEAST_LIMIT else None
        return super().encode(correlation_id, response, most) if frame is None else frame


OWN: Final[Mapping[ApiKey, Callable[[int], Codec]]] = {
    ApiKey.PRODUCE: ProduceCodec,
    ApiKey.FETCH: FetchCodec,
}
