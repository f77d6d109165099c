"""DescribeDelegationToken (41): the tokens that a client may see (KIP-48, KIP-373)."""

from ..acls import Operation, ResourceType
from ..cluster.call import Call
from ..controller.delegation_tokens import hmac_of, secret_key
from ..metadata.records import DelegationTokenRecord
from ..outcome import Steps
from ..portions import portions
from ..protocol.api_error import ApiError
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.describe_delegation_token import (
    DescribedDelegationToken,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from ..protocol.messages.of_administrators import Principal
from .delegation_tokens import check_may_ask, parted, text_of
from .registry import handles


@handles(
    ApiKey.DESCRIBE_DELEGATION_TOKEN,
    changes=False,
    source="KafkaApis.handleDescribeTokensRequest, DelegationTokenManager.filterToken",
    top="""DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, DELEGATION_TOKEN_AUTH_DISABLED,
        DELEGATION_TOKEN_AUTHORIZATION_FAILED""",
)
def describe_delegation_token(call: Call, request: DescribeDelegationTokenRequest) -> Steps:
    """As the broker that is asked knows them."""
    answer, key = DescribeDelegationTokenResponse(), secret_key(call.environment.configs)
    try:
        check_may_ask(call)
        if key is None:
            raise ApiError(ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)
    except ApiError as error:
        answer.error_code = error.code
        return answer
    if request.owners is not None and not request.owners:
        return answer
    owners = None if request.owners is None else {text_of(each) for each in request.owners}
    for portion in portions(list(call.broker.image.delegation_tokens.values())):
        for token in portion:
            if (owners is None or owners & _of(token)) and _may_see(call, token):
                call.count(1 + len(token.renewers))
                answer.tokens.append(_described(token, key))
        yield
    return answer


def _of(token: DelegationTokenRecord) -> set[str]:
    """Who has to do with it (`TokenInformation.ownerOrRenewer`)."""
    return {token.owner, token.requester, *token.renewers}


def _may_see(call: Call, token: DelegationTokenRecord) -> bool:
    if call.asker is None or call.client.principal in _of(token):
        return True
    may = call.asker.may
    return may(Operation.DESCRIBE, ResourceType.DELEGATION_TOKEN, token.token_id) or may(
        Operation.DESCRIBE_TOKENS, ResourceType.USER, token.owner
    )


def _described(token: DelegationTokenRecord, key: bytes) -> DescribedDelegationToken:
    return DescribedDelegationToken(
        *parted(token.owner),
        *parted(token.requester),
        token.issue_timestamp,
        token.expiration_timestamp,
        token.max_timestamp,
        token.token_id,
        hmac_of(key, token.token_id),
        [Principal(*parted(each)) for each in token.renewers],
    )
