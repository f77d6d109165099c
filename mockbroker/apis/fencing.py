"""How the transactional APIs report that a producer is fenced (KIP-588)."""

from ..cluster.call import Call
from ..policies.transactions.fenced_error import fenced_error
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode

_NEVER = 1 << 15


def shown(call: Call, api_key: ApiKey, error: ErrorCode) -> ErrorCode:
    """The error as a client of that version knows it."""
    if error is not ErrorCode.PRODUCER_FENCED:
        return error
    if call.version >= call.policies[fenced_error].get(api_key, _NEVER):
        return error
    return ErrorCode.INVALID_PRODUCER_EPOCH
