"""One codec per API version: request bytes -> model, model -> answer frame. Each is built when first used.

What is large is read and written in parts, so that a shell can answer others in between.
"""

import functools
import importlib
import math
import struct
from collections.abc import Callable, Generator
from types import ModuleType
from typing import Any, Final

from . import reading, schema, writing
from .api_keys import CODEC_VERSIONS, ApiKey
from .headers import MalformedRequestError, skip_tags
from .primitives import FrameBuffer

Frame = bytes | bytearray | list[bytes | bytearray | memoryview]
"""One answer, length prefix included: a single buffer, or several to be sent in order."""

_PREFIX: Final = struct.Struct(">ii")


class UnsupportedVersionError(MalformedRequestError):
    """An API or version without a codec."""


class AnswerTooLargeError(ValueError):
    """An answer has more bytes than it may have."""


class Codec:
    """Reads requests and writes answers of one API version."""

    __slots__ = (
        "_in_parts",
        "_new_frame",
        "_read",
        "_write",
        "api_key",
        "downgrade",
        "flexible",
        "tagged_answer",
        "upgrade",
        "version",
    )

    keeps_view = False
    """Whether values refer to the frame, which is then writable where it can be."""

    def __init__(self, api_key: ApiKey, version: int) -> None:
        self.api_key = api_key
        self.version = version
        messages = _messages(api_key)
        self.upgrade: Callable[[Any, int], Any] | None = getattr(messages, "upgrade", None)
        self.downgrade: Callable[[Any, int], Any] | None = getattr(messages, "downgrade", None)
        request, answer = _schemas(api_key, version)
        self.flexible = schema.flexible(request)
        models = models_of(api_key)
        self._read: Callable[[Any, int], Any] = reading.compile_reader(request, models[0])
        self._write: writing.Writer = writing.compile_writer(answer, models[1])
        self._new_frame: type[bytearray] = FrameBuffer if writing.may_splice(answer, models[1]) else bytearray
        self._in_parts: tuple[reading.ReaderInParts, writing.WriterInParts] | None = None
        self.tagged_answer = self.flexible and api_key is not ApiKey.API_VERSIONS

    def decode(self, frame: bytes | memoryview, offset: int) -> Any:
        """The request after the header, whose client id ends at `offset`. MalformedRequestError."""
        try:
            if self.flexible:
                offset = offset + 1 if frame[offset] == 0 else skip_tags(frame, offset)
            request = self._read(frame if self.keeps_view else bytes(frame), offset)
        except reading.READ_ERRORS as error:
            raise self._malformed(error) from error
        return request if self.upgrade is None else self.upgrade(request, self.version)

    def decode_in_parts(self, frame: bytes | memoryview, offset: int) -> Generator[None, None, Any]:
        """As `decode`, for large requests."""
        try:
            if self.flexible:
                offset = skip_tags(frame, offset)
            request = yield from self._functions_in_parts()[0](bytes(frame), offset)
        except reading.READ_ERRORS as error:
            raise self._malformed(error) from error
        return request if self.upgrade is None else self.upgrade(request, self.version)

    def _functions_in_parts(self) -> tuple[reading.ReaderInParts, writing.WriterInParts]:
        if self._in_parts is None:
            request, answer = _schemas(self.api_key, self.version)
            models = models_of(self.api_key)
            self._in_parts = (
                reading.compile_reader_in_parts(request, models[0]),
                writing.compile_writer_in_parts(answer, models[1]),
            )
        return self._in_parts

    def _malformed(self, error: Exception) -> MalformedRequestError:
        why = error if isinstance(error, ValueError) else "the request ends early"
        return MalformedRequestError(f"{self.api_key.name} v{self.version}: {why}")

    def encode(self, correlation_id: int, response: Any, most: float = math.inf) -> Frame:
        """The whole answer frame. TextTooLongError; AnswerTooLargeError if it has more than `most` bytes,
        records not counted."""
        if self.downgrade is not None:
            response = self.downgrade(response, self.version)
        out = self._new_frame(9 if self.tagged_answer else 8)
        self._write(response, out)
        if type(out) is FrameBuffer and out.splices:
            return self._finished(correlation_id, out, most)
        if len(out) > most:
            raise _too_large(most)
        _PREFIX.pack_into(out, 0, len(out) - 4, correlation_id)
        return out

    def encode_in_parts(
        self, correlation_id: int, response: Any, most: float = math.inf
    ) -> Generator[None, None, Frame]:
        """As `encode`, for large answers."""
        if self.downgrade is not None:
            response = self.downgrade(response, self.version)
        out = FrameBuffer(8)
        if self.tagged_answer:
            out.append(0)
        for _ in self._functions_in_parts()[1](response, out):
            if len(out) + out.shared_bytes > most:
                break
            yield
        return self._finished(correlation_id, out, most)

    def _finished(self, correlation_id: int, out: FrameBuffer, most: float) -> Frame:
        if len(out) + out.shared_bytes > most:
            raise _too_large(most)
        spliced = sum(sum(map(len, records)) for _, records in out.splices)
        _PREFIX.pack_into(out, 0, len(out) + spliced - 4, correlation_id)
        return out.buffers() if spliced else out


def _too_large(most: float) -> AnswerTooLargeError:
    return AnswerTooLargeError(f"the answer would have more than {most} bytes")


@functools.cache
def shared(api_key: int, version: int) -> Codec:
    """The codec of all connections. UnsupportedVersionError if there is none."""
    try:
        low, high = CODEC_VERSIONS[key := ApiKey(api_key)]
    except (KeyError, ValueError):
        raise UnsupportedVersionError(f"api key {api_key} is not supported") from None
    if not low <= version <= high:
        raise UnsupportedVersionError(f"{key.name} v{version} is not supported: only v{low} to v{high} are")
    return Codec(key, version)


def _messages(api_key: ApiKey) -> ModuleType:
    return importlib.import_module(f"{__package__}.messages.{api_key.name.lower()}")


def models_of(api_key: ApiKey) -> tuple[type, type]:
    """The models of an API's requests and answers."""
    name = schema.class_name(api_key.name)
    messages = _messages(api_key)
    return getattr(messages, name + "Request"), getattr(messages, name + "Response")


def _schemas(api_key: ApiKey, version: int) -> tuple[type, type]:
    api = api_key.name.lower()
    return schema.load(api, version, "Request"), schema.load(api, version, "Response")
