"""Requests and answers as captures have them: without passwords, proofs and tokens."""

import struct
from collections.abc import Iterable
from typing import Final

from ..protocol.api_keys import ApiKey
from ..protocol.headers import MalformedRequestError, parse_header
from ..protocol.messages.create_delegation_token import CreateDelegationTokenResponse
from ..protocol.messages.describe_delegation_token import DescribeDelegationTokenResponse
from ..protocol.messages.sasl_authenticate import SaslAuthenticateResponse

_SIZE: Final = struct.Struct(">i")
_FLEXIBLE_SINCE: Final = 2
_LENGTH_BYTES: Final = 4
_PERIOD_BYTES: Final = 8
_SECRET: Final = (ApiKey.SASL_AUTHENTICATE, ApiKey.RENEW_DELEGATION_TOKEN, ApiKey.EXPIRE_DELEGATION_TOKEN)
"""Their bodies begin with one, and the others end with a period."""


def request(frame: bytes) -> bytes:
    """A request with its size in front; the token of a SaslAuthenticate, and the HMAC of a delegation token,
    are zeros."""
    hidden = shown = len(frame)
    try:
        key, version, _, _, offset = parse_header(frame)
    except MalformedRequestError:
        return token(frame)
    if key in _SECRET:
        hidden = min(
            offset + (_varint_end(frame, offset + 1) if version >= _FLEXIBLE_SINCE else _LENGTH_BYTES), hidden
        )
        if key != ApiKey.SASL_AUTHENTICATE:
            shown = max(hidden, len(frame) - _PERIOD_BYTES - (version >= _FLEXIBLE_SINCE))
    return _SIZE.pack(len(frame)) + frame[:hidden] + bytes(shown - hidden) + frame[shown:]


def token(frame: bytes) -> bytes:
    """A token without a header, with its size in front: zeros."""
    return _SIZE.pack(len(frame)) + bytes(len(frame))


def secrets_of(answer: object) -> tuple[bytes, ...]:
    """What is to be hidden of an answer, in its order."""
    match answer:
        case SaslAuthenticateResponse():
            found = [answer.auth_bytes]
        case CreateDelegationTokenResponse():
            found = [answer.hmac]
        case DescribeDelegationTokenResponse():
            found = [each.hmac for each in answer.tokens]
        case _:
            return ()
    return tuple(bytes(each) for each in found if each)


def answer(data: bytes, secrets: Iterable[bytes]) -> bytes:
    """An answer whose secrets, in their order, are zeros."""
    masked, at = bytearray(data), 0
    for each in secrets:
        if (start := data.find(each, at)) >= 0:
            at = start + len(each)
            masked[start:at] = bytes(len(each))
    return bytes(masked)


def _varint_end(frame: bytes, offset: int) -> int:
    """How many bytes the tags of the header and the length after them take."""
    at = offset
    while at < len(frame) and frame[at] & 0x80:
        at += 1
    return at + 2 - offset
