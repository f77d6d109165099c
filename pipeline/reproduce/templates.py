"""Tests and scenarios that show an incident with a cluster, without a history."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Template:
    """Texts in which `{topic}`, `{kafka}` and `{story}` are to be filled in. In the scenario `failing` is the
    line that `passing` takes the place of where the incident is prevented."""

    test: str
    scenario: str | None = None
    failing: str = ""
    passing: str = ""


def _scenario(config: str, steps: list[str], expected: list[str]) -> str:
    """Steps are 200 ms from each other; three seconds after the start the topic has to have the values."""

    def parts() -> Iterator[str]:
        yield '# {story}\n\n[cluster]\nkafka = "{kafka}"\nbrokers = 3\ntopics = {{ "{topic}" = 1 }}\n'
        yield f"config = {{{{ {config} }}}}\n" if config else ""
        for index, step in enumerate(steps, 1):
            yield f'\n[[step]]\nafter = "{200 * index}ms"\n{step}'
        values = ", ".join(f'{{{{ value = "{value}" }}}}' for value in expected)
        yield '\n[[check]]\nafter = "3s"\ndo = "records list"\ntopic = "{topic}"\nwithin = "2s"\n'
        yield f"expect = [{values}]\n"

    return "".join(parts())


def _produce(value: int) -> str:
    return f'do = "records produce"\ntopic = "{{topic}}"\nvalue = "{value}"\n'


def _broker(do: str, broker: int) -> str:
    return f'do = "brokers {do}"\nbroker = {broker}\n'


UNCLEAN: Final = Template(
    """\
import pytest

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize(
    "unclean", [pytest.param("true", id="incident"), pytest.param("false", id="prevented")]
)
def test_no_acknowledged_record_is_lost(unclean: str) -> None:
    config = {{"unclean.leader.election.enable": unclean}}
    with MockCluster(kafka="{kafka}", brokers=3, topics={{"{topic}": 1}}, config=config) as cluster:
        written = [cluster.produce("{topic}", "1")]
        cluster.stop_broker(3)
        written.append(cluster.produce("{topic}", "2"))
        cluster.stop_broker(2)
        cluster.stop_broker(1)
        for broker in (3, 2, 1):
            cluster.start_broker(broker)
        assert cluster.records("{topic}") == written
""",
    _scenario(
        '"unclean.leader.election.enable" = "true"',
        [
            _produce(1),
            _broker("stop", 3),
            _produce(2),
            *(_broker("stop", each) for each in (2, 1)),
            *(_broker("start", each) for each in (3, 2, 1)),
        ],
        ["1", "2"],
    ),
    '"unclean.leader.election.enable" = "true"',
    '"unclean.leader.election.enable" = "false"',
)
CUT_OFF: Final = Template(
    """\
from contextlib import suppress
from typing import Literal

import pytest

from mockbroker import MockCluster, RefusedError

# {story}


@pytest.mark.parametrize("acks", [pytest.param(1, id="incident"), pytest.param(-1, id="prevented")])
def test_no_acknowledged_record_is_lost(acks: Literal[1, -1]) -> None:
    with MockCluster(kafka="{kafka}", brokers=3, topics={{"{topic}": 1}}, clock="manual") as cluster:
        written = [cluster.produce("{topic}", "1", acks=acks)]
        cluster.cut_off(1)
        with suppress(RefusedError):  # it was not acknowledged
            written.append(cluster.produce("{topic}", "2", acks=acks, timeout=1.0))
        cluster.clock.advance(60_000)
        written.append(cluster.produce("{topic}", "3", acks=acks))
        cluster.rejoin(1)
        cluster.clock.advance(60_000)
        assert cluster.records("{topic}") == written
"""
)
RETENTION: Final = Template(
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
    _scenario(
        '"log.retention.ms" = "1000", "log.retention.check.interval.ms" = "200", '
        '"log.initial.task.delay.ms" = "100"',
        [_produce(1), _produce(2)],
        ["1", "2"],
    ),
    '"log.retention.ms" = "1000"',
    '"log.retention.ms" = "604800000"',
)
DELETED: Final = Template(
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
    _scenario(
        "",
        [*map(_produce, (1, 2, 3)), 'do = "records delete"\ntopic = "{topic}"\npartition = 0\nbefore = 3\n'],
        ["2", "3"],
    ),
    "before = 3",
    "before = 1",
)
HISTORY: Final = Template(
    '''\
from pathlib import Path

import pytest

from mockbroker.simulation.history import happen
from mockbroker.simulation.plan import Plan

# {story}


@pytest.mark.parametrize(
    "history", [pytest.param("history.json", id="incident"), pytest.param("prevented.json", id="prevented")]
)
def test_{test}(history: str) -> None:
    """{invariant}."""
    plan = Plan.from_json(Path(__file__).with_name(history).read_text())
    violated = [each.invariant for each in happen(plan).violations]
    assert "{name}" not in violated
'''
)
"""What violates an invariant; `{name}`, `{test}` and `{invariant}` are about it."""
