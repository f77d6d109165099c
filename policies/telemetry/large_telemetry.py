"""`large-telemetry`: a push of metrics that is larger than `telemetry.max.bytes` once it is decompressed.

Up to 4.3.0 brokers take it. From 4.3.1 on they answer INVALID_RECORD, which tells a client that its metrics
can't be read: a Java client then pushes no more until it is restarted. The fix answers TELEMETRY_TOO_LARGE,
as for a push that is too large when it comes, and the client tries again.
"""

from typing import Final

from ...protocol.errors import ErrorCode
from ..behaviour import Behaviour

large_telemetry: Final = Behaviour[ErrorCode | None](
    name="large-telemetry",
    summary="what a push of metrics is answered that is too large when it is decompressed",
    answers={
        "taken": None,
        "invalid-record": ErrorCode.INVALID_RECORD,
        "telemetry-too-large": ErrorCode.TELEMETRY_TOO_LARGE,
    },
    history=(("0.11", "taken"), ("4.3", "invalid-record")),
    ids=("KAFKA-21076",),
    fixed="telemetry-too-large",
)
