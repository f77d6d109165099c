"""`mockbroker hunt` as a process."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from mockbroker.conformance.drivers.shipped import PROGRAMS

WRONG = Path(__file__).parent.parent / "conformance" / "hunt" / "wrong.py"


def hunt(*options: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "mockbroker", "hunt", *options]
    environment = {**os.environ, "MOCKBROKER_PROGRAMS": str(PROGRAMS / "python"), "COLUMNS": "120"}
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False, env=environment)


def wrong(name: str) -> tuple[str, str]:
    return "--client-command", shlex.join((sys.executable, str(WRONG), name))


def test_a_finding_is_written_and_can_be_played_again(tmp_path: Path) -> None:
    done = hunt(*wrong("loses"), "--seeds", "4", "--first", "4", "--shrink", "5", "--out", str(tmp_path))
    assert done.returncode == 1, done.stderr
    assert "wrong loses: 4 seeds" in done.stdout
    home = tmp_path / "acknowledged-lost-producer"
    assert str(home) in done.stdout
    story = (home / "story.txt").read_text()
    assert "acknowledged-lost: " in story
    assert "is told that record" in story
    again = hunt(*wrong("loses"), "--plan", str(home))
    assert again.returncode == 1
    assert again.stdout.count("acknowledged-lost: ") >= 3
    right = hunt(*wrong("right"), "--plan", str(home))
    assert right.returncode == 0, right.stdout
    assert right.stdout.endswith("nothing is violated\n" * 3)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--client", "confluent"], "no client 'confluent': did you mean 'confluent-kafka'?"),
        ([], "which client? Give --client NAME or --client-command COMMAND"),
        (["--client-command", "no-such-program"], "No such file or directory: 'no-such-program'"),
        (
            ["--client-command", f"{sys.executable} -c 'print(42)'"],
            "ended with status 0; its last output:\n42",
        ),
        (["--client-command", "x", "--versions", "1,2"], "a driver of your own has no versions"),
        (["--client", "aiokafka", "--plan", "nowhere.json"], "No such file or directory: 'nowhere.json'"),
        (["--client", "aiokafka", "--plan", __file__], "is not a plan of mockbroker hunt"),
    ],
)
def test_what_is_wrong_with_a_command(options: list[str], told: str) -> None:
    done = hunt("--seeds", "1", *options)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
