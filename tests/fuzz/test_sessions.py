"""A part of `make fuzz`: the sessions of a few seeds, in a process with little memory."""

import subprocess
import sys
from pathlib import Path

MEMORY = 2_000_000 * 1024
"""As `ulimit -v 2000000` has it."""


def test_a_broker_goes_on_whatever_comes(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mockbroker.conformance.fuzz", "run", "--jobs", "1", "--inputs", "3000"]
    command += ["--memory", str(MEMORY), "--write", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3000 inputs" in done.stdout
