"""ExpireDelegationToken (40): a token expires at another time, or is removed (KIP-48)."""

from ..cluster.call import Call
from ..protocol.api_keys import ApiKey
from ..protocol.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from .delegation_tokens import changed
from .registry import handles


@handles(
    ApiKey.EXPIRE_DELEGATION_TOKEN,
    changes=True,
    source="KafkaApis.handleExpireTokenRequest, DelegationTokenControlManager.expireDelegationToken",
    top="""DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, DELEGATION_TOKEN_AUTH_DISABLED, DELEGATION_TOKEN_NOT_FOUND,
        DELEGATION_TOKEN_OWNER_MISMATCH, DELEGATION_TOKEN_EXPIRED, INVALID_TIMESTAMP, NOT_CONTROLLER""",
)
def expire_delegation_token(
    call: Call, request: ExpireDelegationTokenRequest
) -> ExpireDelegationTokenResponse:
    return changed(
        call,
        ExpireDelegationTokenResponse(),
        lambda tokens, who: tokens.expire(who, bytes(request.hmac), request.expiry_time_period_ms),
    )
