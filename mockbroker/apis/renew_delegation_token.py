"""RenewDelegationToken (39), of brokers to which clients connect without logging in (KIP-48)."""

from ..cluster.call import Call
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)
from .registry import handles


@handles(
    ApiKey.RENEW_DELEGATION_TOKEN,
    changes=False,
    source="KafkaApis.handleRenewTokenRequest, DelegationTokenControlManager.renewDelegationToken",
    top="""DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, DELEGATION_TOKEN_AUTH_DISABLED, DELEGATION_TOKEN_NOT_FOUND,
        DELEGATION_TOKEN_OWNER_MISMATCH, DELEGATION_TOKEN_EXPIRED, INVALID_TIMESTAMP, NOT_CONTROLLER""",
)
def renew_delegation_token(_: Call, __: RenewDelegationTokenRequest) -> RenewDelegationTokenResponse:
    return RenewDelegationTokenResponse(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)
