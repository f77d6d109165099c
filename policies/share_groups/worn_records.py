"""`worn-records`: how many records at once ShareFetch delivers that may not be delivered often any more.

4.1 delivers a batch as a whole until its last delivery, so that one record that no member can process takes
all records of its batch with it (`whole-batches`). Since 4.2 a member gets fewer and fewer of them from
half of `group.share.delivery.count.limit` on, and each alone the last time (`fewer-and-fewer`).
"""

from typing import Final, Literal

from ..behaviour import Switch

worn_records: Final = Switch[Literal["whole-batches", "fewer-and-fewer"]](
    name="worn-records",
    summary="whether records near their last delivery are delivered few at a time",
    answers={"whole-batches": False, "fewer-and-fewer": True},
    history=(("0.11", "whole-batches"), ("4.2", "fewer-and-fewer")),
    ids=("KIP-1206",),
)
