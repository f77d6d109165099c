"""RenewDelegationToken (39): a token expires later (KIP-48)."""

from ..cluster.call import Call
from ..protocol.api_keys import ApiKey
from ..protocol.messages.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)
from .delegation_tokens import changed
from .registry import handles


@handles(
    ApiKey.RENEW_DELEGATION_TOKEN,
    changes=True,
    source="KafkaApis.handleRenewTokenRequest, DelegationTokenControlManager.renewDelegationToken",
    top="""DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, DELEGATION_TOKEN_AUTH_DISABLED, DELEGATION_TOKEN_NOT_FOUND,
        DELEGATION_TOKEN_OWNER_MISMATCH, DELEGATION_TOKEN_EXPIRED, INVALID_TIMESTAMP, NOT_CONTROLLER""",
)
def renew_delegation_token(call: Call, request: RenewDelegationTokenRequest) -> RenewDelegationTokenResponse:
    return changed(
        call,
        RenewDelegationTokenResponse(),
        lambda tokens, who: tokens.renew(who, bytes(request.hmac), request.renew_period_ms),
    )
