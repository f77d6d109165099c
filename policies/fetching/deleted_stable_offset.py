"""`deleted-stable-offset`: the last stable offset while a transaction is open whose first record was deleted.

Up to 3.9 it is the log start offset. Since 4.0 it is the base offset of the batch that holds the log start
offset: after DeleteRecords into a batch, Fetch and ListOffsets return one below the log start offset.
"""

from typing import Final, Literal

from ..behaviour import Switch

deleted_stable_offset: Final = Switch[Literal["log-start-offset", "batch-base-offset"]](
    name="deleted-stable-offset",
    summary="the last stable offset while a transaction is open whose first record was deleted",
    answers={"log-start-offset": False, "batch-base-offset": True},
    history=(("0.11", "log-start-offset"), ("4.0", "batch-base-offset")),
)
