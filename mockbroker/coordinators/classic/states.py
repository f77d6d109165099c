"""The states of a classic group, and the events that lead from one to the next (`GroupState` of Kafka).

A group without members is Empty. The first member that joins takes it to PreparingRebalance, where it waits
until all members have joined or the rebalance timeout is over. Then the next generation begins:
CompletingRebalance waits for the leader's assignment, which makes the group Stable; if nobody is left it is
Empty again. A member that joins, leaves, fails or changes its metadata takes it back to PreparingRebalance.
Dead is the end: the group was deleted, or removed because it had neither members nor offsets.
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
