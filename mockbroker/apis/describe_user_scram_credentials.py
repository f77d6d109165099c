"""DescribeUserScramCredentials (50): who can log in by SCRAM (KIP-554)."""

from collections import Counter

from ..cluster.call import Call
from ..metadata.image import MetadataImage
from ..outcome import Steps
from ..portions import MANY, portions
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


@handles(
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS,
    changes=False,
    source="KafkaApis.handleDescribeUserScramCredentialsRequest, ScramImage.describe",
    top="CLUSTER_AUTHORIZATION_FAILED",
    resource="RESOURCE_NOT_FOUND, DUPLICATE_RESOURCE",
)
def describe_user_scram_credentials(call: Call, request: DescribeUserScramCredentialsRequest) -> Steps:
    """Every user succeeds or fails alone (`ScramImage.describe`)."""
    times: Counter[str] = Counter()
    for named in portions(request.users or (), MANY):
        times.update(each.name for each in named)
        yield
    if not times:
        times.update(list(call.broker.image.scram_credentials))
    answer = DescribeUserScramCredentialsResponse()
    for portion in portions(times.items()):
        answer.results += [_described(call.broker.image, user, count) for user, count in portion]
        yield
    return answer


def _described(image: MetadataImage, user: str, times: int) -> DescribeUserScramCredentialsResult:
    if times > 1:
        return DescribeUserScramCredentialsResult(user, ErrorCode.DUPLICATE_RESOURCE, _TWICE + user)
    credentials = image.scram_credentials.get(user)
    if credentials is None:
        return DescribeUserScramCredentialsResult(user, ErrorCode.RESOURCE_NOT_FOUND, _UNKNOWN + user)
    infos = [CredentialInfo(mechanism, each.iterations) for mechanism, each in credentials.items()]
    return DescribeUserScramCredentialsResult(user, credential_infos=infos)
