"""Histories in which brokers learn late what the controller decides."""

from mockbroker.simulation.history import draw, happen
from mockbroker.simulation.plan import Options
from tests.properties import examples

LATE = {"slow-metadata", "metadata-in-time"}


def test_the_rest_of_a_history_is_drawn_as_without() -> None:
    for seed in range(100):
        slow, plain = draw(seed, Options(slow_metadata=True)), draw(seed, Options())
        steps = [step for step in slow.steps if step.do not in LATE]
        assert len(slow.steps) > len(steps)
        assert tuple(steps) == plain.steps
        assert not LATE & {step.do for step in plain.steps}


def test_some_clients_come_to_a_broker_that_does_not_know_yet() -> None:
    """They ask again, so there are other requests."""
    seeds = range(40)
    slow = [happen(draw(seed, Options(slow_metadata=True))) for seed in seeds]
    plain = [happen(draw(seed, Options())) for seed in seeds]
    differ = [seed for seed in seeds if slow[seed].requests != plain[seed].requests]
    assert len(differ) > 10


def test_slow_metadata_loses_nothing() -> None:
    for seed in range(examples(120)):
        violated = {each.invariant for each in happen(draw(seed, Options(slow_metadata=True))).violations}
        assert not violated & {"acknowledged-record-lost", "replicas-disagree"}
        assert not violated & {"group-offset-back", "group-offset-lost"}
