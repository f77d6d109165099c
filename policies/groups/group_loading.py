"""`group-loading`: what members are told while a coordinator loads their group.

Up to 1.1 the broker answers NOT_COORDINATOR to everything (`not-coordinator`). Since 2.0 it answers
COORDINATOR_LOAD_IN_PROGRESS, but lets heartbeats pass. With `rebalance`, up to 3.9, SyncGroup gets
REBALANCE_IN_PROGRESS, so that the member joins again without looking for its coordinator, and ListGroups has
an error beside the groups that are loaded already. With `load-in-progress`, since 4.0, SyncGroup gets the
same error as the others, and ListGroups lists nothing.
"""

from typing import Final, NamedTuple

from ...protocol.errors import ErrorCode
from ..behaviour import Behaviour

E = ErrorCode


class Answers(NamedTuple):
    """`error` is that of most requests; `lists` is whether ListGroups has the groups that are loaded."""

    error: ErrorCode
    heartbeat: ErrorCode
    sync: ErrorCode
    lists: bool


group_loading: Final = Behaviour[Answers](
    name="group-loading",
    summary="what members are told while a coordinator loads their group",
    answers={
        "not-coordinator": Answers(E.NOT_COORDINATOR, E.NOT_COORDINATOR, E.NOT_COORDINATOR, lists=True),
        "rebalance": Answers(E.COORDINATOR_LOAD_IN_PROGRESS, E.NONE, E.REBALANCE_IN_PROGRESS, lists=True),
        "load-in-progress": Answers(
            E.COORDINATOR_LOAD_IN_PROGRESS, E.NONE, E.COORDINATOR_LOAD_IN_PROGRESS, lists=False
        ),
    },
    history=(("0.11", "not-coordinator"), ("2.0", "rebalance"), ("4.0", "load-in-progress")),
    ids=("KIP-848",),
)
