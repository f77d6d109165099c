"""`loading-transactional-commit`: a TxnOffsetCommit from before version 2 while its group is being loaded.

Producers from before 2.1 may crash upon COORDINATOR_LOAD_IN_PROGRESS. Since 2.6 those that use the old
versions get COORDINATOR_NOT_AVAILABLE instead.
"""

from typing import Final, Literal

from ..behaviour import Switch

loading_transactional_commit: Final = Switch[Literal["load-in-progress", "not-available"]](
    name="loading-transactional-commit",
    summary="what a TxnOffsetCommit from before version 2 is answered while a coordinator loads its group",
    answers={"load-in-progress": False, "not-available": True},
    history=(("0.11", "load-in-progress"), ("2.6", "not-available")),
    ids=("KAFKA-7296",),
)
