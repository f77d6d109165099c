"""Requests of the proxy's own."""

import functools
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from ..protocol import schema, writing
from ..protocol.api_keys import ApiKey
from ..protocol.codecs import models_of
from ..protocol.primitives import FrameBuffer

NAME: Final = "mockbroker"


def request_frame(
    api: ApiKey, version: int, request: Any, correlation_id: int = 0, client_id: str | None = NAME
) -> bytes:
    """A request with its header, without its length."""
    write, tagged = _writer(api, version)
    name = b"\xff\xff" if client_id is None else _text(client_id)
    head = api.to_bytes(2) + version.to_bytes(2) + correlation_id.to_bytes(4, signed=True) + name
    out = FrameBuffer(0)
    write(_as_written(api, request), out)
    return head + b"\0" * tagged + b"".join(out.buffers())


def _as_written(api: ApiKey, request: Any) -> Any:
    """Records are written as lists of buffers."""
    if api is not ApiKey.PRODUCE:
        return request
    topics = [replace(each, partition_data=_listed(each.partition_data)) for each in request.topic_data]
    return replace(request, topic_data=topics)


def _listed(partitions: Iterable[Any]) -> list[Any]:
    return [replace(each, records=each.records and [each.records]) for each in partitions]


def _text(client_id: str) -> bytes:
    data = client_id.encode()
    return len(data).to_bytes(2) + data


@functools.cache
def _writer(api: ApiKey, version: int) -> tuple[writing.Writer, bool]:
    theirs = schema.load(api.name.lower(), version, "Request")
    return writing.compile_writer(theirs, models_of(api)[0]), schema.flexible(theirs)
