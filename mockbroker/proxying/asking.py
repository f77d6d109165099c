"""The proxy's own questions at the start: which brokers there are, and what they answer."""

from collections.abc import Mapping
from typing import Any, Final

import trio

from ..addresses import joined
from ..errors import UpstreamError
from ..faults.match import api_name
from ..protocol.answers import answer_codec
from ..protocol.api_keys import ApiKey
from ..protocol.headers import MalformedRequestError
from ..protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ..protocol.messages.metadata import MetadataRequest, MetadataResponse
from .framing import Framing
from .options import Address
from .requesting import request_frame

_SECONDS: Final = 10
_NONE: Final = "the cluster has no brokers yet"
_MOST_BYTES: Final = 1 << 24


async def ask_brokers(addresses: list[Address], needed: Mapping[ApiKey, int]) -> MetadataResponse:
    """The answer of the first address that gives one. UpstreamError says what became of each; also if this
    broker does not answer an API that is needed, in its version."""
    whys = []
    for host, port in addresses:
        try:
            with trio.fail_after(_SECONDS):
                answer = await _ask_both(host, port, needed)
            if answer.brokers:
                return answer
            whys.append(f"{joined(host, port)}: {_NONE}")
        except trio.TooSlowError:
            whys.append(f"{joined(host, port)}: no answer within {_SECONDS} s")
        except (OSError, MalformedRequestError) as error:
            whys.append(f"{joined(host, port)}: {error}")
    raise UpstreamError("no broker told which brokers there are: " + "; ".join(whys))


async def _ask_both(host: str, port: int, needed: Mapping[ApiKey, int]) -> MetadataResponse:
    async with await trio.open_tcp_stream(host, port) as stream:
        if needed:
            _check(needed, await _ask(stream, ApiKey.API_VERSIONS, 0, ApiVersionsRequest()))
        # All releases since 0.10 answer v1.
        answer: MetadataResponse = await _ask(stream, ApiKey.METADATA, 1, MetadataRequest(topics=[]))
    return answer


def _check(needed: Mapping[ApiKey, int], answer: ApiVersionsResponse) -> None:
    there = {each.api_key: (each.min_version, each.max_version) for each in answer.api_keys}
    for api, version in needed.items():
        low, high = there.get(api, (0, -1))
        if not low <= version <= high:
            raise ConnectionError(f"behaviours need {api_name(api)} v{version}, which it does not answer")


async def _ask(stream: trio.SocketStream, api: ApiKey, version: int, request: Any) -> Any:
    data = request_frame(api, version, request)
    framing = Framing(_MOST_BYTES)
    await stream.send_all(len(data).to_bytes(4) + data)
    while (frame := framing.next()) is None:
        received = await stream.receive_some()
        if not received:
            raise ConnectionError("it closed the connection: does it want TLS or a login?")
        framing.add(bytes(received))
    return answer_codec(api, version).decode(frame)
