"""How far a member is on its way to its target assignment (KIP-848, KIP-1071)."""

import enum


class MemberState(enum.Enum):
    """In a streams group, tasks are meant in place of partitions."""

    STABLE = "has the epoch of the target assignment"
    UNREVOKED = "has to give up partitions first"
    UNRELEASED = "waits for partitions that others have to give up"


STATES = {MemberState.STABLE: 0, MemberState.UNREVOKED: 1, MemberState.UNRELEASED: 2}
"""Their numbers in records."""
BY_NUMBER = {number: state for state, number in STATES.items()}
