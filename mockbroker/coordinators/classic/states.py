"""The states of a classic group, and the events that lead from one to the next (`GroupState` of Kafka).

The coordinator decides who is a member, and when the next generation begins; one of the members, the
leader, decides who gets which partitions. Nobody else knows both, so a change takes two rounds. In the
first (JoinGroup) all members say what they want, and the coordinator keeps their requests until it has
those of all; in the second (SyncGroup) the leader sends the assignment, and the others wait for it. What a
member says of an older generation is refused (ILLEGAL_GENERATION): so a member that was thought dead
commits nothing after others took over.

A group without members is Empty. The first member that joins takes it to PreparingRebalance, where it waits
until all members have joined or the rebalance timeout is over: who has not joined by then is no member any
longer, unless it is static. Then the next generation begins: CompletingRebalance waits for the leader's
assignment, which is written to `__consumer_offsets` before it is valid and makes the group Stable; if
nobody is left, the group is Empty again. A member that joins, leaves, fails or changes its metadata takes
it back to PreparingRebalance; the others hear of that in the answer to their next Heartbeat
(REBALANCE_IN_PROGRESS), and stop what they do to join again. Dead is the end: the group was deleted, or
removed because it had neither members nor offsets.
"""

import enum
from typing import Final


class GroupState(enum.StrEnum):
    """The values are those in DescribeGroups and ListGroups."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


class GroupEvent(enum.Enum):
    REBALANCE = "a member joins, leaves, fails or changes its metadata"
    JOINED = "the members of the next generation are known"
    DESERTED = "nobody is in the next generation"
    ASSIGNED = "the leader sent the assignment"
    DELETED = "deleted, or cleaned up"


_S, _E = GroupState, GroupEvent

TRANSITIONS: Final[dict[GroupState, dict[GroupEvent, GroupState]]] = {
    _S.EMPTY: {
        _E.REBALANCE: _S.PREPARING_REBALANCE,
        _E.DELETED: _S.DEAD,
    },
    _S.PREPARING_REBALANCE: {
        _E.JOINED: _S.COMPLETING_REBALANCE,
        _E.DESERTED: _S.EMPTY,
        _E.DELETED: _S.DEAD,
    },
    _S.COMPLETING_REBALANCE: {
        _E.ASSIGNED: _S.STABLE,
        _E.REBALANCE: _S.PREPARING_REBALANCE,
        _E.DELETED: _S.DEAD,
    },
    _S.STABLE: {
        _E.REBALANCE: _S.PREPARING_REBALANCE,
        _E.DELETED: _S.DEAD,
    },
    _S.DEAD: {},
}
