"""UnregisterBroker (64): the controller forgets a broker (KIP-631)."""

from typing import Final

from ..cluster.call import Call
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from ..protocol.releases import parse
from .registry import handles

_WITH_MESSAGE: Final = parse("4.1")


@handles(
    ApiKey.UNREGISTER_BROKER,
    changes=True,
    source="ControllerApis.handleUnregisterBroker, ReplicationControlManager.unregisterBroker",
    top_retry="NOT_CONTROLLER, REQUEST_TIMED_OUT",
    top="BROKER_ID_NOT_REGISTERED, CLUSTER_AUTHORIZATION_FAILED",
)
def unregister_broker(call: Call, request: UnregisterBrokerRequest) -> UnregisterBrokerResponse:
    """Even if it runs: it then stays out of the cluster until it is started again
    (`ReplicationControlManager.unregisterBroker`)."""
    broker = request.broker_id
    controller = call.cluster.controller
    if controller.is_registered(broker):
        with controller.reasons.asked_by(call.who):
            controller.unregister(broker)
        return UnregisterBrokerResponse()
    message = f"Broker ID {broker} is not currently registered"
    told = message if call.environment.release >= _WITH_MESSAGE else ""
    return UnregisterBrokerResponse(0, ErrorCode.BROKER_ID_NOT_REGISTERED, told)
