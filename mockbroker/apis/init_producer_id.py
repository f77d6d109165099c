"""InitProducerId (22): a new producer id for an idempotent producer (KIP-98)."""

from ..cluster.call import Call
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from .registry import handles

_NONE = -1


@handles(ApiKey.INIT_PRODUCER_ID)
def init_producer_id(call: Call, request: InitProducerIdRequest) -> InitProducerIdResponse:
    """Without a transactional id it is always a new id in epoch 0, whatever was sent.

    With one the answer is UNSUPPORTED_VERSION, which clients take for "no transactions here".
    """
    if (request.producer_id == _NONE) != (request.producer_epoch == _NONE) or request.transactional_id == "":
        return _refused(ErrorCode.INVALID_REQUEST)
    if request.transactional_id is not None:
        return _refused(ErrorCode.UNSUPPORTED_VERSION)
    return InitProducerIdResponse(producer_id=call.cluster.new_producer_id(), producer_epoch=0)


def _refused(code: ErrorCode) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=code, producer_id=-1, producer_epoch=-1)
