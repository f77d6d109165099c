"""SaslHandshake (17): refused, since every listener is PLAINTEXT (KIP-43, KIP-152)."""

from typing import Final

from ..cluster.call import Call
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from .registry import handles

_NOTHING_TOLD_SINCE: Final = (1, 0)


@handles(ApiKey.SASL_HANDSHAKE)
def sasl_handshake(call: Call, request: SaslHandshakeRequest) -> SaslHandshakeResponse:
    """ILLEGAL_SASL_STATE; 0.11 tells which mechanisms it has all the same (`KafkaApis.scala`)."""
    answer = SaslHandshakeResponse(ErrorCode.ILLEGAL_SASL_STATE)
    if call.environment.release.number < _NOTHING_TOLD_SINCE:
        enabled = call.environment.configs.broker_value("sasl.enabled.mechanisms", call.broker.id)
        answer.mechanisms = enabled if isinstance(enabled, list) else []
    return answer
