"""The steps by which incidents come about that follow from their kind, at times that a seed chooses."""

from random import Random
from typing import Final

from ...simulation.plan import Plan, Step
from ...simulation.producer_setting import ProducerSetting

_LATE_MS: Final = 3_000
_WRITTEN: Final = {"producer": 0, "count": 2}
_DELETED: Final = "delete-records"


def unclean_election(seed: int, kafka: str) -> Plan:
    """A replica is left behind, those in sync go down, and it is elected. The files don't tell when the
    others came back, compared with when consumers noticed: the seed chooses."""
    back_ms = 4_000 + _late_ms(seed)
    steps = (
        Step(0, "rebalance"),
        Step(100, "produce", _WRITTEN),
        Step(1_000, "stop-broker", {"broker": 3}),
        Step(1_500, "produce", _WRITTEN),
        Step(2_500, "stop-broker", {"broker": 2}),
        Step(2_600, "kill-broker", {"broker": 1}),
        Step(4_000, "start-broker", {"broker": 3}),
        Step(back_ms, "start-broker", {"broker": 2}),
        Step(back_ms, "start-broker", {"broker": 1}),
    )
    return Plan(seed, kafka, unclean=True, commit_rate=1.0, steps=steps)


def cut_off_leader(seed: int, kafka: str) -> Plan:
    """The leader is cut off from the other brokers, and takes records until it comes back and follows."""
    steps = (
        Step(0, "rebalance"),
        Step(100, "produce", _WRITTEN),
        Step(1_000, "cut-off-broker", {"broker": 1}),
        Step(1_100, "produce", _WRITTEN),
        Step(12_000 + _late_ms(seed), "rejoin-broker", {"broker": 1}),
    )
    return Plan(seed, kafka, producers=(ProducerSetting(acks=1),), commit_rate=1.0, steps=steps)


def deleted_below_commit(seed: int, kafka: str) -> Plan:
    """A group stops; what is written meanwhile is deleted before it comes back."""
    steps = (
        Step(0, "rebalance"),
        Step(100, "produce", _WRITTEN),
        Step(1_000, "stop-consumer"),
        Step(1_500, "produce", {"producer": 0, "count": 4}),
        Step(2_500 + _late_ms(seed), _DELETED, {"percent": 70}),
        Step(6_000, "rebalance"),
    )
    return Plan(seed, kafka, commit_rate=1.0, steps=steps)


def without_deletion(plan: Plan) -> Plan:
    """The same plan, but everything is kept."""
    return plan.with_steps(tuple(each for each in plan.steps if each.do != _DELETED))


def _late_ms(seed: int) -> int:
    return Random(f"{seed}").randrange(_LATE_MS)
