"""DescribeUserScramCredentials (50): who can log in by SCRAM (KIP-554)."""

from collections import Counter

from ..cluster.call import Call
from ..metadata.image import MetadataImage
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)
from .registry import handles

_TWICE = "Cannot describe SCRAM credentials for the same user twice in a single request: "
_UNKNOWN = "Attempt to describe a user credential that does not exist: "


@handles(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS)
def describe_user_scram_credentials(
    call: Call, request: DescribeUserScramCredentialsRequest
) -> DescribeUserScramCredentialsResponse:
    """Every user succeeds or fails alone (`ScramImage.describe`)."""
    image = call.broker.image
    times = Counter(each.name for each in request.users or ()) or dict.fromkeys(image.scram_credentials, 1)
    return DescribeUserScramCredentialsResponse(
        results=[_described(image, user, count) for user, count in times.items()]
    )


def _described(image: MetadataImage, user: str, times: int) -> DescribeUserScramCredentialsResult:
    if times > 1:
        return DescribeUserScramCredentialsResult(user, ErrorCode.DUPLICATE_RESOURCE, _TWICE + user)
    credentials = image.scram_credentials.get(user)
    if credentials is None:
        return DescribeUserScramCredentialsResult(user, ErrorCode.RESOURCE_NOT_FOUND, _UNKNOWN + user)
    infos = [CredentialInfo(mechanism, each.iterations) for mechanism, each in credentials.items()]
    return DescribeUserScramCredentialsResult(user, credential_infos=infos)
