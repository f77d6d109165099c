"""What commands say: why they can't do something, and how far they are."""

import io
import itertools
import os
import re
import sys
from pathlib import Path
from queue import SimpleQueue
from types import SimpleNamespace

import pytest
from rich.console import Console

from mockbroker.cli import main
from mockbroker.cli.failing import why
from mockbroker.duration import milliseconds
from mockbroker.progress import counted, doing, now_and_then


@pytest.mark.parametrize(
    "command",
    [
        "view",
        "replay",
        "capture --decode",
        "hunt --client kafka-python --plan",
        "analyze",
        "reproduce --out new",
        "serve --port 0 --offsets",
    ],
)
def test_a_file_that_is_not_there(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "nothing"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["mockbroker", *command.split(), str(path)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith(f"mockbroker {command.split()[0]}: ")
    assert f"{path}: {os.strerror(2)}" in said
    assert "Errno" not in said


def test_why_an_error_came_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="Errno") as caught:
        tmp_path.open()
    assert why(caught.value) == f"{tmp_path}: Is a directory"
    assert why(OSError("no file")) == "no file"
    assert why(ValueError("wrong")) == "wrong"


def test_shells_are_not_told_of_types_of_python() -> None:
    with pytest.raises(ValueError, match=r"can't be advanced by 'soon': give '7d', .* d\)$"):
        milliseconds("soon")
    with pytest.raises(ValueError, match="or a timedelta"):
        milliseconds(1.5)  # type: ignore[arg-type]


def test_how_far_it_is_is_told_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    tell = now_and_then("check", 10, itertools.count(step=4).__next__)
    for number in range(7):
        tell(f"{number} of 7")
    assert capsys.readouterr().err == "mockbroker check: 2 of 7\nmockbroker check: 5 of 7\n"


def test_where_no_terminal_is_a_line_says_how_many_are_done(capsys: pytest.CaptureFixture[str]) -> None:
    with counted("hunt", "learning", 7, Console(stderr=True, force_terminal=False), seconds=0) as so_far:
        so_far.advance()
        so_far.advance(2, "seeds")
    assert capsys.readouterr().err == "mockbroker hunt: 1 of 7: learning\nmockbroker hunt: 3 of 7: seeds\n"


def test_a_terminal_shows_a_bar() -> None:
    shown = io.StringIO()
    with counted("hunt", "seeds", 7, Console(file=shown, force_terminal=True)) as so_far:
        so_far.advance(3)
    assert "3/7" in shown.getvalue()


def test_who_waits_is_reminded_of_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: SimpleQueue[str] = SimpleQueue()
    monkeypatch.setattr(sys, "stderr", SimpleNamespace(write=lines.put, flush=lambda: None))
    with doing("reproduce", seconds=0.001) as told:
        told.tell("trying 500 histories")
        assert lines.get(timeout=30) == "mockbroker reproduce: trying 500 histories\n"
        told.now = "3 of 500 histories tried"
        said = ""
        while "3 of 500" not in said:
            said = lines.get(timeout=30)
    assert re.fullmatch(r"mockbroker reproduce: 3 of 500 histories tried \(\d+ s\)\n", said)
