"""`share-coordinator`: FindCoordinator v6 for a share partition, `group:topic id:partition` (KIP-932).

A client gets COORDINATOR_NOT_AVAILABLE from 3.9 and INVALID_REQUEST from 4.0, where share groups are
disabled. Since 4.1 it gets the coordinator, or INVALID_REQUEST for a malformed key.
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
