"""GetTelemetrySubscriptions (71): which metrics a client is to push (KIP-714)."""

from typing import Final

from ..cluster.call import Call
from ..protocol.api_error import ApiError
from ..protocol.api_keys import ApiKey
from ..protocol.compression import Compression
from ..protocol.messages.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)
from .registry import handles

_ACCEPTED: Final = (Compression.ZSTD, Compression.LZ4, Compression.GZIP, Compression.SNAPPY)


@handles(
    ApiKey.GET_TELEMETRY_SUBSCRIPTIONS,
    changes=False,
    source="KafkaApis.handleGetTelemetrySubscriptionsRequest, ClientMetricsManager.validateGetRequest",
    top="THROTTLING_QUOTA_EXCEEDED, INVALID_REQUEST",
)
def get_telemetry_subscriptions(
    call: Call, request: GetTelemetrySubscriptionsRequest
) -> GetTelemetrySubscriptionsResponse:
    telemetry = call.broker.telemetry
    try:
        instance = telemetry.subscribe(request.client_instance_id, call.client_id, call.client)
    except ApiError as error:
        return GetTelemetrySubscriptionsResponse(error_code=error.code)
    return GetTelemetrySubscriptionsResponse(
        client_instance_id=instance.id,
        subscription_id=instance.subscription_id,
        accepted_compression_types=_ACCEPTED,
        push_interval_ms=instance.push_interval_ms,
        telemetry_max_bytes=telemetry.max_bytes,
        delta_temporality=True,
        requested_metrics=instance.metrics,
    )
