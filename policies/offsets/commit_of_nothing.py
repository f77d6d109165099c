"""`commit-of-nothing`: the first OffsetCommit of a group, of which nothing can be kept (KIP-848).

A client whose metadata are all larger than `offset.metadata.max.bytes` gets OFFSET_METADATA_TOO_LARGE. Up to
3.9 the group begins all the same: ListGroups has it, empty, until offsets expire. Since 4.0 only a record
begins a group.
"""

from typing import Final, Literal

from ..behaviour import Switch

commit_of_nothing: Final = Switch[Literal["begins-group", "no-group"]](
    name="commit-of-nothing",
    summary="whether a group begins with a commit of which no offset can be kept",
    answers={"begins-group": True, "no-group": False},
    history=(("0.11", "begins-group"), ("4.0", "no-group")),
    ids=("KIP-848",),
)
