"""`fetch-of-no-groups`: OffsetFetch v8 and later that names no group (KIP-709).

Up to 3.9 the broker never answers; since 4.0 the answer is empty.
"""

from typing import Final, Literal

from ..behaviour import Switch

fetch_of_no_groups: Final = Switch[Literal["silence", "answer"]](
    name="fetch-of-no-groups",
    summary="whether an OffsetFetch that names no group is answered",
    answers={"silence": False, "answer": True},
    history=(("0.11", "silence"), ("4.0", "answer")),
    ids=("KIP-709",),
)
