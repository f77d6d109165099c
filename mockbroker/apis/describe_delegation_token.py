"""DescribeDelegationToken (41), of brokers to which clients connect without logging in (KIP-48)."""

from ..cluster.call import Call
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.describe_delegation_token import (
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from .registry import handles


@handles(
    ApiKey.DESCRIBE_DELEGATION_TOKEN,
    changes=False,
    source="KafkaApis.handleDescribeTokensRequest",
    top="""DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, DELEGATION_TOKEN_AUTH_DISABLED,
        DELEGATION_TOKEN_AUTHORIZATION_FAILED""",
)
def describe_delegation_token(_: Call, __: DescribeDelegationTokenRequest) -> DescribeDelegationTokenResponse:
    return DescribeDelegationTokenResponse(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)
