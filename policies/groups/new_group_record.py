"""`new-group-record`: whether a group is written to `__consumer_offsets` as soon as its first member joins.

With `none`, as up to 3.9, the first record is that of its first generation, once it has its assignment. With
`written`, as since 4.0, there is a record of an empty group before that.
"""

from typing import Final, Literal

from ..behaviour import Switch

new_group_record: Final = Switch[Literal["none", "written"]](
    name="new-group-record",
    summary="whether a group is written when its first member joins",
    answers={"none": False, "written": True},
    history=(("0.11", "none"), ("4.0", "written")),
    ids=("KIP-848",),
)
