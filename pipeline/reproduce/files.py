"""The files that show an incident, and what running them says."""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from ...scenario.playing import CHECKS_FAILED
from ...simulation.invariants import INVARIANTS
from ..errors import PipelineError
from ..reproduction import Reproduction, Template
from .reading import Recorded
from .searching import Closest

HISTORY, PREVENTED, SCENARIO, TEST = "history.json", "prevented.json", "scenario.toml", "test_incident.py"
_TOPIC: Final = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_IMPORTED: Final = re.compile(r"^(?:from|import) (\w+)", re.MULTILINE)
_PACKAGES: Final = {"kafka": "kafka-python"}
"""Of modules that are called otherwise."""
_WAIT: Final = "import time; time.sleep(6)"
_LONGEST_S: Final = 300
"""A test waits for what another release, for example, does not do."""
_HISTORY: Final = Template(
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


def write(
    folder: Path, incident: Recorded, kind: Reproduction, closest: Closest | None, kafka: str | None = None
) -> None:
    """Writes the files; `kafka` is the release to act as. PipelineError if the topic's name is none."""
    if not _TOPIC.fullmatch(incident.topic):
        raise PipelineError(f"{incident.topic!r} is not the name of a topic")
    template = kind.template or _HISTORY
    name = kind.invariant or ""
    told = {
        "topic": incident.topic,
        "group": json.dumps(incident.group),
        "kafka": closest.plan.kafka if closest else kafka or kind.kafka,
        "story": ascii(" ".join(incident.story.split()))[1:-1],
        "name": name,
        "test": name.replace("-", "_"),
        "invariant": INVARIANTS.get(name, "").capitalize(),
    }
    if closest is not None:
        (folder / HISTORY).write_text(closest.plan.to_json())
        (folder / PREVENTED).write_text(closest.prevented.to_json())
    (folder / TEST).write_text(template.test.format_map(told))
    if template.scenario is not None:
        (folder / SCENARIO).write_text(template.scenario.format_map(told))


def check_imports(kind: Reproduction) -> None:
    """PipelineError if something is missing that the test imports, so that it could not be tried out."""
    imported = _IMPORTED.findall((kind.template or _HISTORY).test)
    if missing := sorted({each for each in imported if find_spec(each) is None}):
        named = " ".join(_PACKAGES.get(each, each.replace("_", "-")) for each in missing)
        raise PipelineError(f"the test can't be tried out: pip install {named}")


def try_out(
    folder: Path, kind: Reproduction, tell: Callable[[str], None] = lambda _: None
) -> dict[str, tuple[bool, bool]]:
    """For each file whether it fails as the incident did, and whether it passes with what prevents it. `tell`
    is told before each."""
    tell(f"running {TEST}, with and without what prevents the incident")
    tried = {TEST: (_pytest(folder, "incident") == 1, _pytest(folder, "prevented") == 0)}
    if kind.template is not None and kind.template.scenario is not None:
        with tempfile.TemporaryDirectory(prefix="mockbroker-reproduce-") as name:
            tell(f"running {SCENARIO}, with and without what prevents the incident")
            scenario = (folder / SCENARIO).read_text()
            prevented = Path(name) / SCENARIO
            prevented.write_text(scenario.replace(kind.template.failing, kind.template.passing))
            tried[SCENARIO] = _play(folder / SCENARIO) == CHECKS_FAILED, _play(prevented) == 0
    return tried


def _pytest(folder: Path, name: str) -> int | None:
    # Nothing of what lies above the folder, such as another project's conftest.py, takes part.
    alone = ["-c", os.devnull, f"--rootdir={folder}", f"--confcutdir={folder}"]
    options = ["-q", "-p", "no:cacheprovider", *alone, "-k", f"[{name}]"]
    return _status("-m", "pytest", *options, str(folder / TEST))


def _play(scenario: Path) -> int | None:
    return _status("-m", "mockbroker", "run", str(scenario), "--", sys.executable, "-c", _WAIT)


def _status(*arguments: str) -> int | None:
    """None if it did not end."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, *arguments]
    try:
        return subprocess.run(command, env=environment, capture_output=True, timeout=_LONGEST_S).returncode
    except subprocess.TimeoutExpired:
        return None
