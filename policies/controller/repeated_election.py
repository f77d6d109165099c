"""`repeated-election`: one ElectLeaders names a partition twice, and it needs the election (KIP-460).

A KRaft controller works out each election of a request from what was before the request, and makes all of
them: clients see both succeed, and two leader epochs go by. With ZooKeeper the second finds that it is not
needed.
"""

from typing import Final, Literal

from ..behaviour import Switch

repeated_election: Final = Switch[Literal["once", "each"]](
    name="repeated-election",
    summary="whether a partition that one ElectLeaders names twice is elected a leader twice",
    answers={"once": False, "each": True},
    history=(("0.11", "once"), ("3.3", "each")),
    ids=("KIP-460",),
)
