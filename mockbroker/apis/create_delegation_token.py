"""CreateDelegationToken (38): a token with which others log in as its owner (KIP-48, KIP-373)."""

from typing import Final

from ..acls import Operation, ResourceType
from ..cluster.call import Call
from ..controller.delegation_tokens import hmac_of, secret_key
from ..outcome import ANONYMOUS
from ..protocol.api_error import ApiError
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from .delegation_tokens import check_may_ask, parted, text_of
from .registry import handles

_USER: Final = "User"


@handles(
    ApiKey.CREATE_DELEGATION_TOKEN,
    changes=True,
    source="KafkaApis.handleCreateTokenRequest, DelegationTokenControlManager.createDelegationToken",
    top="""DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, DELEGATION_TOKEN_AUTH_DISABLED, INVALID_PRINCIPAL_TYPE,
        DELEGATION_TOKEN_AUTHORIZATION_FAILED, INVALID_TIMESTAMP, UNKNOWN_SERVER_ERROR, NOT_CONTROLLER""",
)
def create_delegation_token(
    call: Call, request: CreateDelegationTokenRequest
) -> CreateDelegationTokenResponse:
    requester = owner = call.client.principal
    if request.owner_principal_name:
        if request.owner_principal_type is None:
            # Java has no principal without a type.
            nobody = parted(ANONYMOUS)
            return CreateDelegationTokenResponse(ErrorCode.UNKNOWN_SERVER_ERROR, *nobody, *nobody)
        owner = f"{request.owner_principal_type}:{request.owner_principal_name}"
    # Times are -1 where the broker refuses, and 0 where the controller does.
    renewers = [text_of(each) for each in request.renewers]
    answer = CreateDelegationTokenResponse(0, *parted(owner), *parted(requester))
    try:
        check_may_ask(call)
        if owner != requester and not _may_create(call, owner):
            raise ApiError(ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED)
        if any(each.principal_type != _USER for each in request.renewers):
            raise ApiError(ErrorCode.INVALID_PRINCIPAL_TYPE)
        answer.issue_timestamp_ms = answer.expiry_timestamp_ms = answer.max_timestamp_ms = 0
        tokens = call.cluster.controller.tokens
        token = tokens.create(requester, owner, renewers, request.max_lifetime_ms)
    except ApiError as error:
        answer.error_code = error.code
        return answer
    answer.issue_timestamp_ms = token.issue_timestamp
    answer.expiry_timestamp_ms = token.expiration_timestamp
    answer.max_timestamp_ms = token.max_timestamp
    answer.token_id = token.token_id
    answer.hmac = hmac_of(secret_key(call.environment.configs) or b"", token.token_id)
    return answer


def _may_create(call: Call, owner: str) -> bool:
    return call.asker is None or call.asker.may(Operation.CREATE_TOKENS, ResourceType.USER, owner)
