"""CreateDelegationToken (38), of brokers to which clients connect without logging in (KIP-48)."""

from typing import Final

from ..cluster.call import Call
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from .registry import handles

_USER: Final = ("User", "ANONYMOUS")


@handles(
    ApiKey.CREATE_DELEGATION_TOKEN,
    changes=False,
    source="KafkaApis.handleCreateTokenRequest, DelegationTokenControlManager.createDelegationToken",
    top="""DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, DELEGATION_TOKEN_AUTH_DISABLED, INVALID_PRINCIPAL_TYPE,
        DELEGATION_TOKEN_AUTHORIZATION_FAILED, INVALID_TIMESTAMP, UNKNOWN_SERVER_ERROR, NOT_CONTROLLER""",
)
def create_delegation_token(_: Call, request: CreateDelegationTokenRequest) -> CreateDelegationTokenResponse:
    """Tokens are for clients that have logged in (`KafkaApis.allowTokenRequests`)."""
    owner, error = _USER, ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    if request.owner_principal_name:
        if request.owner_principal_type is None:
            error = ErrorCode.UNKNOWN_SERVER_ERROR
        else:
            owner = request.owner_principal_type, request.owner_principal_name
    return CreateDelegationTokenResponse(error, *owner, *_USER)
