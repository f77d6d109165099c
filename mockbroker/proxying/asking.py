"""The proxy's own question at the start: which brokers there are."""

from typing import Final

import trio

from ..addresses import joined
from ..errors import UpstreamError
from ..protocol import schema, writing
from ..protocol.answers import answer_codec
from ..protocol.api_keys import ApiKey
from ..protocol.headers import MalformedRequestError
from ..protocol.messages.metadata import MetadataRequest, MetadataResponse
from .framing import Framing
from .options import Address

_VERSION: Final = 1
"""Which all releases since 0.10 answer."""
_SECONDS: Final = 10
_NONE: Final = "the cluster has no brokers yet"
_MOST_BYTES: Final = 1 << 24


async def ask_brokers(addresses: list[Address]) -> MetadataResponse:
    """The answer of the first address that gives one. UpstreamError says what became of each."""
    whys = []
    for host, port in addresses:
        try:
            with trio.fail_after(_SECONDS):
                answer = await _ask(host, port)
            if answer.brokers:
                return answer
            whys.append(f"{joined(host, port)}: {_NONE}")
        except trio.TooSlowError:
            whys.append(f"{joined(host, port)}: no answer within {_SECONDS} s")
        except (OSError, MalformedRequestError) as error:
            whys.append(f"{joined(host, port)}: {error}")
    raise UpstreamError("no broker told which brokers there are: " + "; ".join(whys))


async def _ask(host: str, port: int) -> MetadataResponse:
    request = bytearray(ApiKey.METADATA.to_bytes(2) + _VERSION.to_bytes(2) + bytes(4) + b"\x00\x0amockbroker")
    write = writing.compile_writer(schema.load("metadata", _VERSION, "Request"), MetadataRequest)
    write(MetadataRequest(topics=[]), request)
    framing = Framing(_MOST_BYTES)
    async with await trio.open_tcp_stream(host, port) as stream:
        await stream.send_all(len(request).to_bytes(4) + request)
        while (frame := framing.next()) is None:
            data = await stream.receive_some()
            if not data:
                raise ConnectionError("it closed the connection: does it want TLS or a login?")
            framing.add(bytes(data))
    answer: MetadataResponse = answer_codec(ApiKey.METADATA, _VERSION).decode(frame)
    return answer
