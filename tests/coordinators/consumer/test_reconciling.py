"""The steps of a member on its way to its target assignment (`CurrentAssignmentBuilder.java`)."""

from uuid import UUID

from mockbroker.coordinators.consumer.member import ConsumerMember
from mockbroker.coordinators.consumer.reconciling import reconciled
from mockbroker.coordinators.member_state import MemberState

ORDERS, PAYMENTS = UUID(int=1), UUID(int=2)
GIVES_UP = ConsumerMember(
    "a",
    epoch=5,
    previous_epoch=4,
    state=MemberState.UNREVOKED,
    assigned={PAYMENTS: {1: 2}},
    revoking={ORDERS: {0: 3}},
)


def held(topic: UUID, index: int) -> int:
    """Nobody but the member itself has partitions."""
    return GIVES_UP.since(topic, index) or -1


def test_a_member_gets_back_at_once_what_it_has_just_given_up() -> None:
    target = {ORDERS: frozenset([0]), PAYMENTS: frozenset([1])}
    owned = {PAYMENTS: frozenset([1])}
    after = reconciled(GIVES_UP, 6, target, {ORDERS, PAYMENTS}, owned, held, changed=False)
    assert (after.state, after.epoch, after.previous_epoch) == (MemberState.STABLE, 6, 5)
    assert (after.assigned, after.revoking) == ({ORDERS: {0: 6}, PAYMENTS: {1: 2}}, {})


def test_a_member_that_gives_up_partitions_loses_a_topic_it_no_longer_subscribes_to() -> None:
    owned = {ORDERS: frozenset([0]), PAYMENTS: frozenset([1])}
    after = reconciled(GIVES_UP, 6, {}, {ORDERS}, owned, held, changed=True)
    assert (after.state, after.epoch) == (MemberState.UNREVOKED, 5)
    assert (after.assigned, after.revoking) == ({}, {ORDERS: {0: 3}, PAYMENTS: {1: 2}})
    assert reconciled(GIVES_UP, 6, {}, {ORDERS}, owned, held, changed=False) == GIVES_UP
