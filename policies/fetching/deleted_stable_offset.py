"""`deleted-stable-offset`: the last stable offset while a transaction is open whose first record was deleted.

It is the log start offset up to 3.9. Since 4.0 it is where the batch begins that holds the log start offset:
after DeleteRecords into a batch it is below the log start offset, in Fetch and in ListOffsets.
"""

from typing import Final, Literal

from ..behaviour import Switch

deleted_stable_offset: Final = Switch[Literal["log-start-offset", "batch-base-offset"]](
    name="deleted-stable-offset",
    summary="the last stable offset while a transaction is open whose first record was deleted",
    answers={"log-start-offset": False, "batch-base-offset": True},
    history=(("0.11", "log-start-offset"), ("4.0", "batch-base-offset")),
)
