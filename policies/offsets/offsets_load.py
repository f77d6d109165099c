"""`offsets-load`: a coordinator loads a record of `__consumer_offsets` that it can't parse.

Such a record is of a newer version, or damaged. With `fails`, as since 4.0, the load fails: the broker
answers NOT_COORDINATOR for all groups of that partition until the next election. With `loads-nothing`, as up
to 3.9, the broker logs an error and coordinates these groups without having loaded any: OffsetFetch answers
-1, and consumers reset their positions. With `stops`, as in 2015 at LinkedIn, it coordinates with what it had
read before that record: OffsetFetch answers old offsets, which may still be valid. With `skips` it goes on
with the next record.
"""

from typing import Final, NamedTuple

from ..behaviour import Behaviour


class Unreadable(NamedTuple):
    """`skips` is whether the load goes on; if not, `keeps` is whether what was read before is valid, and
    `coordinates` whether the broker then coordinates the groups."""

    skips: bool
    keeps: bool
    coordinates: bool


offsets_load: Final = Behaviour[Unreadable](
    name="offsets-load",
    summary="a coordinator loads a committed offset, or a group, that it can't parse",
    answers={
        "skips": Unreadable(skips=True, keeps=True, coordinates=True),
        "stops": Unreadable(skips=False, keeps=True, coordinates=True),
        "loads-nothing": Unreadable(skips=False, keeps=False, coordinates=True),
        "fails": Unreadable(skips=False, keeps=False, coordinates=False),
    },
    history=(("0.11", "loads-nothing"), ("4.0", "fails")),
    fixed="skips",
)
