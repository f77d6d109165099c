"""What requests for delegation tokens have in common (KIP-48)."""

from collections.abc import Callable
from typing import TypeVar

from ..cluster.call import Call
from ..controller.delegation_tokens import DelegationTokens
from ..outcome import ANONYMOUS
from ..protocol.api_error import ApiError
from ..protocol.errors import ErrorCode
from ..protocol.messages.of_administrators import Principal, TokenExpiry

Expiry = TypeVar("Expiry", bound=TokenExpiry)


def check_may_ask(call: Call) -> None:
    """ApiError unless the client has proved who it is, by something else than a token
    (`KafkaApis.allowTokenRequests`)."""
    client = call.client
    protocol = call.told(call.broker).protocol
    anonymous = protocol == "PLAINTEXT" or (protocol == "SSL" and client.principal == ANONYMOUS)
    if anonymous or client.token_authenticated:
        raise ApiError(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)


def changed(call: Call, answer: Expiry, change: Callable[[DelegationTokens, str], int]) -> Expiry:
    """The answer with the new expiry time; where the controller refuses, that is 0."""
    try:
        check_may_ask(call)
        answer.expiry_timestamp_ms = 0
        answer.expiry_timestamp_ms = change(call.cluster.controller.tokens, call.client.principal)
    except ApiError as error:
        answer.error_code = error.code
    return answer


def text_of(principal: Principal) -> str:
    return f"{principal.principal_type}:{principal.principal_name}"


def parted(principal: str) -> tuple[str, str]:
    """The type and the name."""
    kind, _, name = principal.partition(":")
    return kind, name
