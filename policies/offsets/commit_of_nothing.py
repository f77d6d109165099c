"""`commit-of-nothing`: a group's first OffsetCommit, none of whose offsets can be kept (KIP-848).

A client whose metadata are all larger than `offset.metadata.max.bytes` gets OFFSET_METADATA_TOO_LARGE. The
group begins nevertheless: members can join it, and DeleteGroups finds it. Since 4.0 ListGroups and
DescribeGroups show what is in the log: they do not show this group until another record, of any group, is
written to its partition of `__consumer_offsets` (`CoordinatorRuntime.java`).
"""

from typing import Final, Literal

from ..behaviour import Switch

commit_of_nothing: Final = Switch[Literal["begins-group", "begins-unseen"]](
    name="commit-of-nothing",
    summary="whether a group is shown at once that begins with a commit of which no offset can be kept",
    answers={"begins-group": True, "begins-unseen": False},
    history=(("0.11", "begins-group"), ("4.0", "begins-unseen")),
    ids=("KIP-848",),
)
