"""The files that show an incident, and what running them says."""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from ...scenario.playing import CHECKS_FAILED
from ..errors import PipelineError
from .reading import Recorded
from .searching import Closest

HISTORY, SCENARIO, TEST = FILES = ("history.json", "scenario.toml", "test_incident.py")
_SETTING: Final = '"unclean.leader.election.enable"'
_TOPIC: Final = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_TEST: Final = """\
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
"""
_CLUSTER: Final = """\
# {story}
# With "unclean.leader.election.enable" = "false" the check holds.

[cluster]
kafka = "{kafka}"
brokers = 3
topics = {{ "{topic}" = 1 }}
config = {{ "unclean.leader.election.enable" = "true" }}
"""
_RECORDS: Final = """
[[check]]
after = "3s"
do = "records list"
topic = "{topic}"
within = "2s"
expect = [{{ value = "1" }}, {{ value = "2" }}]
"""
_WAIT: Final = "import time; time.sleep(4)"


def write(folder: Path, incident: Recorded, closest: Closest) -> None:
    """Writes the files. PipelineError if the topic's name is none."""
    if not _TOPIC.fullmatch(incident.topic):
        raise PipelineError(f"{incident.topic!r} is not the name of a topic")
    told = {
        "topic": incident.topic,
        "kafka": closest.plan.kafka,
        "story": ascii(" ".join(incident.story.split()))[1:-1],
    }
    (folder / HISTORY).write_text(closest.plan.to_json())
    (folder / TEST).write_text(_TEST.format_map(told))
    steps = _CLUSTER + "".join(_steps()) + _RECORDS
    (folder / SCENARIO).write_text(steps.format_map(told))


def try_out(folder: Path) -> dict[str, tuple[bool, bool]]:
    """For each file whether it fails with the incident's setting, and whether it passes with the one that
    prevents it. PipelineError if pytest is missing."""
    if find_spec("pytest") is None:
        raise PipelineError("the test can't be tried out: pip install pytest")
    with tempfile.TemporaryDirectory(prefix="mockbroker-reproduce-") as name:
        scenario = (folder / SCENARIO).read_text()
        prevented = Path(name) / SCENARIO
        prevented.write_text(scenario.replace(f'{_SETTING} = "true"', f'{_SETTING} = "false"'))
        return {
            TEST: (_pytest(folder, "incident") == 1, _pytest(folder, "prevented") == 0),
            SCENARIO: (_play(folder / SCENARIO) == CHECKS_FAILED, _play(prevented) == 0),
        }


def _steps() -> Iterator[str]:
    """As in the test, 200 ms from each other."""
    produce = 'do = "records produce"\ntopic = "{{topic}}"\nvalue = "{}"\n'
    broker = 'do = "brokers {}"\nbroker = {}\n'
    done = [
        produce.format(1),
        broker.format("stop", 3),
        produce.format(2),
        *(broker.format("stop", each) for each in (2, 1)),
        *(broker.format("start", each) for each in (3, 2, 1)),
    ]
    for index, each in enumerate(done, 1):
        yield f'\n[[step]]\nafter = "{200 * index}ms"\n{each.replace("{{topic}}", "{topic}")}'


def _pytest(folder: Path, name: str) -> int:
    options = ["-q", "-p", "no:cacheprovider", "-c", os.devnull, f"--rootdir={folder}", "-k", f"[{name}]"]
    return _status("-m", "pytest", *options, str(folder / TEST))


def _play(scenario: Path) -> int:
    return _status("-m", "mockbroker", "run", str(scenario), "--", sys.executable, "-c", _WAIT)


def _status(*arguments: str) -> int:
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, *arguments], env=environment, capture_output=True).returncode
