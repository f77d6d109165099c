"""How records are deleted that a group has not read: by request, or by retention, while it is away."""

from typing import Final

from ..simulation.plan import Plan, Step
from .reproduction import Fits, Reproduction, Template, always, late_ms, produce, scenario

BY_REQUEST: Final = "client delete records request"
BY_RETENTION: Final = "segment deletion"
"""How leaders say why they deleted records."""


def _history(seed: int, kafka: str) -> Plan:
    """A group stops; what is written meanwhile is deleted before it comes back."""
    steps = (
        Step(0, "rebalance"),
        Step(100, "produce", {"producer": 0, "count": 2}),
        Step(1_000, "stop-consumer"),
        Step(1_500, "produce", {"producer": 0, "count": 4}),
        Step(2_500 + late_ms(seed), "delete-records", {"percent": 70}),
        Step(6_000, "rebalance"),
    )
    return Plan(seed, kafka, commit_rate=1.0, steps=steps)


def _without_deletion(plan: Plan) -> Plan:
    return plan.with_steps(tuple(each for each in plan.steps if each.do != "delete-records"))


_RETAINED: Final = Template(
    """\
import pytest

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize(
    "retention_ms", [pytest.param("60000", id="incident"), pytest.param("604800000", id="prevented")]
)
def test_what_the_group_has_not_read_is_kept(retention_ms: str) -> None:
    config = {{"log.retention.ms": retention_ms}}
    with MockCluster(
        kafka="{kafka}", brokers=3, topics={{"{topic}": 1}}, config=config, clock="manual"
    ) as cluster:
        written = [cluster.produce("{topic}", str(number)) for number in range(10)]
        committed = 3
        cluster.clock.advance(3_600_000)
        assert cluster.records("{topic}", offset=committed) == written[committed:]
""",
    scenario(
        '"log.retention.ms" = "1000", "log.retention.check.interval.ms" = "200", '
        '"log.initial.task.delay.ms" = "100"',
        [produce(1), produce(2)],
        ["1", "2"],
    ),
    '"log.retention.ms" = "1000"',
    '"log.retention.ms" = "604800000"',
)
_DELETED: Final = Template(
    """\
import pytest

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize("before", [pytest.param(9, id="incident"), pytest.param(5, id="prevented")])
def test_what_the_group_has_not_read_is_kept(before: int) -> None:
    with MockCluster(kafka="{kafka}", brokers=3, topics={{"{topic}": 1}}) as cluster:
        written = [cluster.produce("{topic}", str(number)) for number in range(10)]
        committed = 5
        cluster.delete_records("{topic}", 0, before=before)
        assert cluster.records("{topic}", offset=committed) == written[committed:]
""",
    scenario(
        "",
        [*map(produce, (1, 2, 3)), 'do = "records delete"\ntopic = "{topic}"\npartition = 0\nbefore = 3\n'],
        ["2", "3"],
    ),
    "before = 3",
    "before = 1",
)


def deleted(names: tuple[str, ...], fits: Fits = always, when: str = "") -> Reproduction:
    """By somebody's request."""
    said = ("records deleted that the group has not read", "only those deleted that it has read")
    return Reproduction(names, *said, _history, _without_deletion, template=_DELETED, when=when, fits=fits)


def retained(names: tuple[str, ...], fits: Fits = always, when: str = "") -> Reproduction:
    """By a retention that is too short."""
    said = ("a retention of a minute", "a retention of a week")
    return Reproduction(names, *said, _history, _without_deletion, template=_RETAINED, when=when, fits=fits)
