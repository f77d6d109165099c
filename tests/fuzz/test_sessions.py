"""A part of `make fuzz`: the sessions of a few seeds, in a process with little memory."""

import subprocess
import sys
from pathlib import Path

import pytest

from mockbroker.conformance.fuzz.dialogue import Finding
from mockbroker.conformance.fuzz.served import PATIENCE_SECONDS, Longest, Result, judge

MEMORY = 2_000_000 * 1024
"""As `ulimit -v 2000000` has it."""


@pytest.mark.long
def test_a_broker_goes_on_whatever_comes(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mockbroker.conformance.fuzz", "run", "--jobs", "1", "--inputs", "3000"]
    command += ["--memory", str(MEMORY), "--write", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3000 inputs" in done.stdout


def test_a_server_goes_on_and_a_good_client_hardly_waits() -> None:
    command = [sys.executable, "-m", "mockbroker.conformance.fuzz", "served", "--inputs", "700"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "700 inputs" in done.stdout


@pytest.mark.parametrize(
    ("result", "kind"),
    [
        (Result(beside=Longest(1.5, 1.2)), "stall"),
        (Result(beside=Longest(PATIENCE_SECONDS + 1, 0.1)), "stall"),
        (Result(grew_bytes=51 << 20), "growth"),
    ],
)
def test_a_server_that_is_not_as_it_should_be(result: Result, kind: str) -> None:
    judge(Result(beside=Longest(1.5, 0.9), grew_bytes=49 << 20), 1.0)
    with pytest.raises(Finding, match=kind):
        judge(result, 1.0)
