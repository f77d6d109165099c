"""A question is a file in the folder of questions, and nothing else."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from docs import generate
from mockbroker.conformance import commands, questions
from mockbroker.conformance.asking import answers_to
from mockbroker.conformance.recorder import STORIES
from mockbroker.rig.scene import Target

from ..driving.cluster import a_cluster
from ..driving.network import InMemoryNetwork

ID = "heartbeat.of_one_file"
TEXT = '''
from ...rig.scene import Scene
from ..registry import Steps, about


@about("heartbeat")(newest_only=True)
def of_one_file(s: Scene) -> Steps:
    """Asked by a test only."""
    yield "unknown group", s.ask(group_id=s.name("g"), generation_id=1, member_id="nobody")
'''


@pytest.fixture
def one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A module with one question, as if it were in the folder."""
    (tmp_path / "of_a_test.py").write_text(TEXT)
    monkeypatch.setattr(questions, "__path__", [*questions.__path__, str(tmp_path)])
    yield
    sys.modules.pop(f"{questions.__name__}.of_a_test", None)


@pytest.mark.usefixtures("one_file")
def test_a_question_is_asked_listed_recorded_and_in_the_reference() -> None:
    (question,) = questions.all_questions(ID)
    network = InMemoryNetwork(a_cluster(brokers=1))
    target = Target.connect(network.bootstrap_servers, network=network)
    ((label, answer),) = answers_to(target, question, 4)
    assert (label, answer["error_code"]) == ("unknown group", "UNKNOWN_MEMBER_ID")
    listed = CliRunner().invoke(commands.app, ["list", "--only", ID]).stdout
    assert listed == f"{ID}  Asked by a test only.\n"
    assert STORIES.about()[ID] == "Asked by a test only."
    page = generate.text("reference/questions.md")
    assert "| `of_one_file` | the newest |  | Asked by a test only. |\n" in page


def test_it_is_gone_with_its_file() -> None:
    assert questions.all_questions(ID) == []
