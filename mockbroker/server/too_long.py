"""The answer to a request whose answer can't be encoded because a text in it is too long."""

from typing import Any

from ..cluster.call import Call
from ..faults.answers import unknown_server_error
from ..protocol.codecs import Codec, Frame
from ..protocol.primitives import TextTooLongError


def frame_instead(found: Codec, correlation_id: int, call: Call, request: Any) -> Frame | None:
    """The request's answer with UNKNOWN_SERVER_ERROR, as recorded. None if that would repeat a text of the
    request that is too long as well: then a broker does not answer (`KafkaRequestHandler`)."""
    try:
        return found.encode(correlation_id, unknown_server_error(call, found.api_key, request))
    except TextTooLongError:
        return None
