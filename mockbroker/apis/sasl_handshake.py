"""SaslHandshake (17): refused where a listener has no SASL, or after a login (KIP-43, KIP-152)."""

from ..cluster.call import Call
from ..policies.connections.refused_handshake import refused_handshake
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from ..sasl.client import SaslClient
from .registry import handles


@handles(
    ApiKey.SASL_HANDSHAKE,
    changes=True,
    source="KafkaApis.handleSaslHandshakeRequest, SaslServerAuthenticator",
    top="ILLEGAL_SASL_STATE, UNSUPPORTED_SASL_MECHANISM",
)
def sasl_handshake(call: Call, request: SaslHandshakeRequest) -> object:
    """Where it is refused, old releases list their mechanisms nevertheless (`KafkaApis.scala`)."""
    if isinstance(call.client, SaslClient) and not call.client.logged_in:
        return call.client.handshake(call, request)
    answer = SaslHandshakeResponse(ErrorCode.ILLEGAL_SASL_STATE)
    if call.policies[refused_handshake] == "mechanisms-told":
        enabled = call.environment.configs.broker_value("sasl.enabled.mechanisms", call.broker.id)
        answer.mechanisms = enabled if isinstance(enabled, list) else []
    return answer
