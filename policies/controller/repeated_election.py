"""`repeated-election`: one ElectLeaders names a partition twice, and it needs the election (KIP-460).

A KRaft controller bases every election of a request on the state before the request, and makes all of them: a
client sees both succeed, and the leader epoch is bumped twice. With ZooKeeper the second election is not
needed any more.
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
