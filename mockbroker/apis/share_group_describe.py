"""ShareGroupDescribe (77): what it is for, and the KIP."""

from ..cluster.call import Call
from ..protocol.api_keys import ApiKey
from ..protocol.messages.share_group_describe import ShareGroupDescribeRequest, ShareGroupDescribeResponse
from .registry import handles


@handles(
    ApiKey.SHARE_GROUP_DESCRIBE,
    changes=True,
    source="KafkaApis.handleShareGroupDescribe",
    group_retry="NOT_COORDINATOR",
    group="GROUP_ID_NOT_FOUND",
)
def share_group_describe(call: Call, request: ShareGroupDescribeRequest) -> ShareGroupDescribeResponse:
    return ShareGroupDescribeResponse()
