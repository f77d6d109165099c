"""`share-coordinator`: FindCoordinator v6 for a share partition, `group:topic id:partition` (KIP-932).

A client sees COORDINATOR_NOT_AVAILABLE on 3.9 and INVALID_REQUEST on 4.0, where share groups are off; since
4.1 the coordinator, and INVALID_REQUEST for a key of another form.
"""

from typing import Final

from ...protocol.errors import ErrorCode
from ..behaviour import Behaviour

share_coordinator: Final = Behaviour[ErrorCode](
    name="share-coordinator",
    summary="what FindCoordinator answers for share partitions",
    answers={
        "not-available": ErrorCode.COORDINATOR_NOT_AVAILABLE,
        "invalid-request": ErrorCode.INVALID_REQUEST,
        "found": ErrorCode.NONE,
    },
    history=(("0.11", "not-available"), ("4.0", "invalid-request"), ("4.1", "found")),
    ids=("KIP-932",),
)
