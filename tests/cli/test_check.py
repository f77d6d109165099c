"""`mockbroker check` as a process."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from mockbroker.clients.drivers.shipped import PROGRAMS

from ..driving.processes import mockbroker_process

WRONG = Path(__file__).parent.parent / "clients" / "hunt" / "wrong.py"


def check(*options: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "MOCKBROKER_PROGRAMS": str(PROGRAMS / "python"), "COLUMNS": "120"}
    return mockbroker_process("check", *options, timeout=240, env=environment)


@pytest.mark.long
def test_a_table_and_every_file(tmp_path: Path) -> None:
    wrong = shlex.join((sys.executable, str(WRONG), "loses"))
    files = [tmp_path / name for name in ("a.xml", "a.json", "a.html", "cards")]
    options = ("--junit", "--json", "--html", "--cards")
    given = [word for option, file in zip(options, files, strict=True) for word in (option, str(file))]
    done = check("--client-command", wrong, "--only", "retry-after-deletion", "--kafka", "4.4", *given)
    assert done.returncode == 1, done.stderr
    assert "acknowledged-lost" in done.stdout
    assert "--only retry-after-deletion --kafka 4.4 --fixed yes" in done.stdout
    assert all(each.exists() for each in files)


def test_a_client_that_is_right() -> None:
    done = check("--client", "confluent-kafka", "--only", "retention", "--kafka", "4.4", "--fixed", "yes")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "right" in done.stdout
