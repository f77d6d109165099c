"""`dead-letters`: whether share groups have dead letter topics.

Since 4.4 a group with `errors.deadletterqueue.topic.name` has records that are rejected, or were delivered as
often as they may be, written to that topic before they are archived (`written`), if `share.version` is 2 or
more. Up to 4.3 they are archived at once (`none`), and a leader can't read a state in which a record is about
to be archived.
"""

from typing import Final, Literal

from ..behaviour import Switch

dead_letters: Final = Switch[Literal["none", "written"]](
    name="dead-letters",
    summary="whether share groups have dead letter topics",
    answers={"none": False, "written": True},
    history=(("0.11", "none"), ("4.4", "written")),
    ids=("KIP-1191",),
)
