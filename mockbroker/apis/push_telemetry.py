"""PushTelemetry (72): a client pushes metrics (KIP-714)."""

from ..cluster.call import Call
from ..protocol.api_error import ApiError
from ..protocol.api_keys import ApiKey
from ..protocol.messages.push_telemetry import PushTelemetryRequest, PushTelemetryResponse
from .registry import handles


@handles(
    ApiKey.PUSH_TELEMETRY,
    changes=True,
    source="KafkaApis.handlePushTelemetryRequest, ClientMetricsManager.processPushTelemetryRequest",
    top="""INVALID_REQUEST, THROTTLING_QUOTA_EXCEEDED, UNKNOWN_SUBSCRIPTION_ID, UNSUPPORTED_COMPRESSION_TYPE,
        TELEMETRY_TOO_LARGE, INVALID_RECORD""",
)
def push_telemetry(call: Call, request: PushTelemetryRequest) -> PushTelemetryResponse:
    try:
        call.broker.telemetry.push(request, call.client_id, call.client)
    except ApiError as error:
        return PushTelemetryResponse(error_code=error.code)
    return PushTelemetryResponse()
