"""Stories that `python -m mockbroker.rig` records, told here by brokers in memory."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from mockbroker.rig.__main__ import app
from mockbroker.rig.downloads import RealBrokerError
from mockbroker.rig.stage import Stage
from mockbroker.rig.stories import Setting, Steps, Tell, Told, named

from ..driving.brokers import InMemoryBrokers

QUICK = {"broker.session.timeout.ms": "3000"}


class InMemory(Setting):
    @contextmanager
    def real(self, release: str) -> Iterator[Any]:
        yield InMemoryBrokers(release, self)

    def with_config(self, config: Any) -> "InMemory":
        return InMemory(self.brokers, {**self.config, **config})


def listed(s: Stage) -> Any:
    """The brokers that each of those that serve tells of."""

    def look(broker: int) -> Any:
        answer = s.ask("metadata", {"topics": []}, broker=broker)
        return sorted(each["node_id"] for each in answer["brokers"])

    return [s.online, s.settled(look)]


def comes_and_goes(s: Stage) -> Steps:
    """A broker stops, is killed and stands still."""
    yield "at first", listed(s)
    s.stop(2)
    yield "stopped", listed(s)
    s.start(2)
    yield "started", listed(s)
    s.kill(3)
    yield "killed", listed(s)
    s.hold(1)
    yield "held", listed(s)


def sizes(s: Stage) -> Steps:
    """The configuration of a story."""
    resource = {"resource_type": 4, "resource_name": "1", "configuration_keys": ["num.partitions"]}
    answer = s.ask("describe_configs", {"resources": [resource]})
    yield "partitions", answer["results"][0]["configs"][0]["value"]


def for_newer_brokers(s: Stage) -> Steps:
    s.needs("list_config_resources", 1)
    yield "there", True


def broken(s: Stage) -> Steps:
    assert not s.online, "it broke off"
    yield "never", None


@pytest.fixture
def stories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Told[Stage]:
    """Those of the module `told`."""
    found = Told(
        tmp_path,
        {"way/comes_and_goes": comes_and_goes, **named(sizes, for_newer_brokers, broken)},
        Stage,
        InMemory(3, QUICK),
        configs={"sizes": {"num.partitions": "7"}, "broken": {"num.partitions": "8"}},
    )
    monkeypatch.setitem(sys.modules, "told", type(sys)("told"))
    monkeypatch.setattr(sys.modules["told"], "STORIES", found, raising=False)
    return found


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


COMES_AND_GOES = [
    ["at first", [[1, 2, 3], [1, 2, 3]]],
    ["stopped", [[1, 3], [1, 3]]],
    ["started", [[1, 2, 3], [1, 2, 3]]],
    ["killed", [[1, 2], [1, 2]]],
    ["held", [[2], [1, 2]]],
]


def test_what_brokers_tell_is_kept(stories: Told[Stage], tmp_path: Path) -> None:
    done = run("record", "told", "*comes*", "sizes", "--kafka", "4.4.0")
    assert done.exit_code == 0, done.output
    kept = json.loads((tmp_path / "recorded" / "4.4.0.json").read_text())
    assert kept == {"way": {"comes_and_goes": COMES_AND_GOES}, "sizes": [["partitions", "7"]]}
    assert stories.cases() == [("4.4.0", "way/comes_and_goes"), ("4.4.0", "sizes")]


def test_other_stories_stay_as_they_were(stories: Told[Stage], tmp_path: Path) -> None:
    file = tmp_path / "recorded" / "4.4.0.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"way": {"comes_and_goes": [["before", 1]]}, "sizes": [["before", 2]]}))
    assert run("record", "told", "sizes").exit_code == 0
    assert stories.recorded("4.4.0") == {
        "way/comes_and_goes": [["before", 1]],
        "sizes": [["partitions", "7"]],
    }


def test_recordings_go_elsewhere(stories: Told[Stage], tmp_path: Path) -> None:
    assert run("record", "told", "sizes", "--kafka", "4.4.0", "--out", str(tmp_path / "out")).exit_code == 0
    assert (tmp_path / "out" / "4.4.0.json").exists()
    assert stories.recorded("4.4.0") == {}


def test_a_story_that_breaks_off_does_not_keep_others_from_being_told(stories: Told[Stage]) -> None:
    done = run("record", "told", "sizes", "broken", "--kafka", "4.4.0")
    assert done.exit_code == 1
    assert "broken: it broke off" in done.stderr
    assert list(stories.recorded("4.4.0")) == ["sizes"]


def test_brokers_that_can_not_be_started_are_another_exit_status(
    stories: Told[Stage], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> Any:
        raise RealBrokerError("no Java here")

    monkeypatch.setattr(InMemory, "real", fails)
    done = run("record", "told", "sizes", "--kafka", "4.4.0")
    assert done.exit_code == 2
    assert "no Java here" in done.stderr
    assert stories.recorded("4.4.0") == {}


def test_what_is_under_way_is_not_printed_with_what_is_done(
    stories: Told[Stage], monkeypatch: pytest.MonkeyPatch
) -> None:
    def record(_: Told[Stage], release: str, names: list[str], tell: Tell, out: Any) -> None:
        tell("asks", passing=True)
        tell("wrote all")

    monkeypatch.setattr(Told, "record", record)
    assert run("record", "told", "sizes", "--kafka", "4.4.0").stdout == "4.4.0 wrote all\n"


def test_brokers_that_are_too_old_are_not_told_of(stories: Told[Stage]) -> None:
    assert run("record", "told", "for_newer_brokers", "--kafka", "3.9.2").exit_code == 0
    assert stories.recorded("3.9.2") == {}
    assert run("record", "told", "for_newer_brokers", "--kafka", "4.4.0").exit_code == 0
    assert stories.recorded("4.4.0") == {"for_newer_brokers": [["there", True]]}


@pytest.mark.usefixtures("stories")
def test_stories_are_listed() -> None:
    assert "way/comes_and_goes  A broker stops, is killed and stands still." in run("list", "told").stdout


@pytest.mark.usefixtures("stories")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("told", "no_such"), "no story is called no_such"),
        (("tests.rig",), "tests.rig has no stories"),
        (("no.such.module",), "no.such.module has no stories"),
    ],
)
def test_what_can_not_be_recorded_is_said(arguments: tuple[str, ...], said: str) -> None:
    done = run("record", *arguments)
    assert done.exit_code == 2
    assert said in " ".join(done.stderr.replace("│", "").split())
