"""UnregisterController (94): the active controller forgets another one."""

from ..cluster.call import Call
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.unregister_controller import (
    UnregisterControllerRequest,
    UnregisterControllerResponse,
)
from .registry import handles

E = ErrorCode


@handles(
    ApiKey.UNREGISTER_CONTROLLER,
    changes=False,
    source="ControllerApis.handleUnregisterController",
    top_retry="NOT_CONTROLLER, REQUEST_TIMED_OUT",
    top="INVALID_REQUEST, CONTROLLER_ID_NOT_REGISTERED, CLUSTER_AUTHORIZATION_FAILED",
)
def unregister_controller(call: Call, request: UnregisterControllerRequest) -> UnregisterControllerResponse:
    """There is only the active controller, which can't be unregistered."""
    if request.controller_id == call.cluster.controller.image.controller:
        told = "Controller cannot unregister itself while it is active."
        return UnregisterControllerResponse(error_code=E.INVALID_REQUEST, error_message=told)
    told = f"Controller ID {request.controller_id} is not currently registered."
    return UnregisterControllerResponse(error_code=E.CONTROLLER_ID_NOT_REGISTERED, error_message=told)
