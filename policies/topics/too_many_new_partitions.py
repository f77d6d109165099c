"""`too-many-new-partitions`: CreatePartitions adds more partitions than the controller allows at once
(10000).

A client gets UNKNOWN_SERVER_ERROR for the topics that exceed the limit; since 4.4 it gets POLICY_VIOLATION
with a message for all.
"""

from typing import Final, NamedTuple

from ...protocol.errors import ErrorCode
from ..behaviour import Behaviour


class Refusal(NamedTuple):
    """The error and its message, and whether it is for all topics of the request."""

    code: ErrorCode
    message: str | None
    whole_request: bool


too_many_new_partitions: Final = Behaviour[Refusal](
    name="too-many-new-partitions",
    summary="what CreatePartitions answers if it would add more than 10000 partitions",
    answers={
        "unknown-server-error": Refusal(ErrorCode.UNKNOWN_SERVER_ERROR, None, whole_request=False),
        "policy-violation": Refusal(
            ErrorCode.POLICY_VIOLATION,
            "Excessively large number of additional partitions per request.",
            whole_request=True,
        ),
    },
    history=(("0.11", "unknown-server-error"), ("4.4", "policy-violation")),
)
