"""`too-many-new-partitions`: CreatePartitions adds more than the controller takes at once (10000).

A client sees UNKNOWN_SERVER_ERROR, since 4.4 POLICY_VIOLATION with a message.
"""

from typing import Final

from ..protocol.errors import ErrorCode
from .behaviour import Behaviour

Answer = tuple[ErrorCode, str | None]
"""(error code, error message)."""

BEHAVIOUR: Final = Behaviour[Answer](
    name="too-many-new-partitions",
    summary="CreatePartitions adds more than 10000 partitions to a topic",
    answers={
        "unknown-server-error": (ErrorCode.UNKNOWN_SERVER_ERROR, None),
        "policy-violation": (
            ErrorCode.POLICY_VIOLATION,
            "Excessively large number of additional partitions per request.",
        ),
    },
    history=(("0.11", "unknown-server-error"), ("4.4", "policy-violation")),
)
