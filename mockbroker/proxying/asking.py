"""The proxy's own questions at the start: which brokers there are, and what they answer."""

import ssl
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import trio

from ..addresses import joined
from ..errors import UpstreamError
from ..protocol.answers import answer_codec
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.headers import MalformedRequestError
from ..protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ..protocol.messages.metadata import MetadataRequest, MetadataResponse, MetadataResponseBroker
from ..protocol.messages.sasl_handshake import SaslHandshakeRequest
from .dialing import Stream, explained
from .framing import Framing
from .options import Address
from .requesting import request_frame

_SECONDS: Final = 10
_NONE: Final = "the cluster has no brokers yet"
_MOST_BYTES: Final = 1 << 24
_TLS_ALERT: Final = b"\x15\x03"
"""With which a listener with TLS answers what is none (RFC 8446, 5.1)."""
_NO_MECHANISM: Final = "none"

Dialled = Callable[[Address], Awaitable[Stream]]
Versions = Mapping[int, tuple[int, int]]
"""The lowest and the highest version of each API."""


class _ClosedError(ConnectionError):
    """It closed the connection in place of an answer."""

    def __init__(self) -> None:
        super().__init__("it closed the connection: does it want TLS (--upstream-tls)?")


async def ask_brokers(
    addresses: list[Address], dial: Dialled, meet: Callable[[Versions], None] | None = None
) -> list[MetadataResponseBroker]:
    """The brokers of which the first address tells that answers; none if it wants a login before.

    `meet` is given the versions that this broker answers, and raises OSError if they will not do.
    UpstreamError says what became of each address.
    """
    whys = []
    for address in addresses:
        try:
            with trio.fail_after(_SECONDS):
                found = await _told(address, dial, meet)
        except trio.TooSlowError:
            whys.append(f"{joined(*address)}: no answer within {_SECONDS} s")
        except (OSError, MalformedRequestError) as error:
            whys.append(f"{joined(*address)}: {error}")
        else:
            if found is not None:
                return found
            whys.append(f"{joined(*address)}: {_NONE}")
    raise UpstreamError("no broker told which brokers there are: " + "; ".join(whys))


async def _told(
    address: Address, dial: Dialled, meet: Callable[[Versions], None] | None
) -> list[MetadataResponseBroker] | None:
    """None if there are no brokers yet."""
    try:
        async with await dial(address) as stream:
            if meet is not None:
                versions: ApiVersionsResponse = await _ask(
                    stream, ApiKey.API_VERSIONS, 0, ApiVersionsRequest()
                )
                meet({each.api_key: (each.min_version, each.max_version) for each in versions.api_keys})
            # All releases since 0.10 answer v1.
            answer: MetadataResponse = await _ask(stream, ApiKey.METADATA, 1, MetadataRequest(topics=[]))
    except _ClosedError:
        if not await _wants_login(address, dial):
            raise
        return []
    if answer.brokers:
        return list(answer.brokers)
    return [] if await _wants_login(address, dial) else None


async def _wants_login(address: Address, dial: Dialled) -> bool:
    """A listener without SASL would answer ILLEGAL_SASL_STATE."""
    try:
        async with await dial(address) as stream:
            request = SaslHandshakeRequest(_NO_MECHANISM)
            answer = await _ask(stream, ApiKey.SASL_HANDSHAKE, 1, request)
    except _ClosedError:
        return False
    return bool(answer.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM)


async def _ask(stream: Stream, api: ApiKey, version: int, request: Any) -> Any:
    data = request_frame(api, version, request)
    framing = Framing(_MOST_BYTES)
    try:
        await stream.send_all(len(data).to_bytes(4) + data)
        begins = True
        while (whole := framing.next()) is None:
            received = bytes(await stream.receive_some())
            if not received:
                raise _ClosedError
            if begins and received.startswith(_TLS_ALERT):
                raise ConnectionError("it wants TLS: give --upstream-tls, or the authority's --upstream-ca")
            begins = False
            framing.add(received)
    except trio.BrokenResourceError as error:
        if isinstance(error.__cause__, ssl.SSLError):
            raise ConnectionError(explained(error.__cause__)) from None
        raise _ClosedError from None
    return answer_codec(api, version).decode(whole[4:])
