"""A signature is one file: `analyze`, its help, `reproduce` and the reference take all of it from there."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from docs.generate import text
from mockbroker.cli.app import app
from mockbroker.pipeline import signatures

from .readers.reading import STORIES

OWN = """\
from mockbroker.pipeline.consequences import SOON_MS, TOPIC, leads
from mockbroker.pipeline.findings import CERTAIN, findings
from mockbroker.pipeline.reproduction import explored
from mockbroker.pipeline.rows import of_kinds, place, seen, sentence
from mockbroker.pipeline.signature import Search, Signature

NAMES = ("log-start-moved",)


def find(observations):
    return findings(
        of_kinds(observations, "log-start"),
        signature="log-start-moved",
        confidence=CERTAIN,
        why="the log says so",
        summary=sentence("the log of {at} begins at {offset}", at=place()),
        evidence=[seen()],
    )


SEARCH = Search(
    "log starts that move",
    find,
    ("log-start",),
    Signature(
        NAMES,
        "the log of a partition begins later than before",
        known_as="retention",
        stories={"log-start-moved": "a log start moved"},
        rules=leads(NAMES, ("log-start-past-log-end",), TOPIC, SOON_MS, "the follower was told of it"),
        alike=("topic-recreated",),
        reproductions=(explored(NAMES, "a bug", "its fix", "follower-fetcher-dead", lambda plan: plan),),
    ),
)
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A signature in a folder of its own."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "log_starts.py").write_text(OWN)
    monkeypatch.setattr(signatures, "__path__", [*signatures.__path__, str(tmp_path / "own")])
    yield
    del sys.modules[f"{signatures.__name__}.log_starts"]


def run(*arguments: object) -> str:
    return CliRunner().invoke(app, list(map(str, arguments))).output


@pytest.mark.usefixtures("own")
def test_a_new_file_is_all_that_a_signature_needs(tmp_path: Path) -> None:
    out = tmp_path / "out"
    said = run("analyze", STORIES / "kafka-7104.log", "--out", out)
    assert "searched for log starts that move" in said
    (incident,) = json.loads((out / "incidents.json").read_text())["incidents"]
    told = [(each["finding"]["signature"], each["link"]) for each in incident["events"]]
    assert told == [
        ("log-start-moved", ""),
        ("log-start-past-log-end", "the follower was told of it"),
    ]
    assert "log-start-moved, certain" in said
    assert "log-start-moved" in run("analyze", "--help")
    reference = text("reference/findings.md")
    assert "| `log-start-moved` | the log of a partition begins later than before | retention |" in reference
    assert "| `log-start-moved` | a bug | its fix |" in reference
    shown = run("reproduce", out, "--out", tmp_path / "reproduced", "--histories", 1)
    assert "none of 1 histories of Kafka 3.9 shows log-start-moved" in shown


def test_without_the_file_nothing_names_it() -> None:
    assert "log-start-moved" not in run("analyze", "--help") + text("reference/findings.md")


def test_what_signatures_refer_to_is_declared() -> None:
    known = signatures.by_name()
    named = {name for each in signatures.rules() for name in (each.cause, each.consequence)}
    named |= {name for each in known.values() for name in (*each.alike, *each.stories)}
    named |= {name for each in known.values() for shown in each.reproductions for name in shown.names}
    assert named
    assert named <= set(known)
    assert all(known[name].looked_for for each in known.values() for name in each.alike)
