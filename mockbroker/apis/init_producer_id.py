"""InitProducerId (22): a new producer id for an idempotent producer (KIP-98)."""

from ..cluster.call import Call
from ..protocol.api_keys import ApiKey
from ..protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from .registry import handles


@handles(ApiKey.INIT_PRODUCER_ID)
def init_producer_id(call: Call, request: InitProducerIdRequest) -> InitProducerIdResponse:
    return InitProducerIdResponse(producer_id=call.cluster.new_producer_id(), producer_epoch=0)
