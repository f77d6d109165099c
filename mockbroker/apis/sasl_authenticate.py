"""SaslAuthenticate (36): refused where a listener has no SASL, or after a login (KIP-152, KIP-368)."""

from ..cluster.call import Call
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from ..sasl.client import SaslClient
from .registry import handles


@handles(
    ApiKey.SASL_AUTHENTICATE,
    changes=True,
    source="KafkaApis.handleSaslAuthenticateRequest, SaslServerAuthenticator",
    top="ILLEGAL_SASL_STATE, SASL_AUTHENTICATION_FAILED",
)
def sasl_authenticate(call: Call, request: SaslAuthenticateRequest) -> object:
    """A connection without SASL counts as authenticated from its start (`KafkaApis.scala`)."""
    if isinstance(call.client, SaslClient):
        return call.client.authenticate(call, request)
    message = "SaslAuthenticate request received after successful authentication"
    return SaslAuthenticateResponse(ErrorCode.ILLEGAL_SASL_STATE, message)
