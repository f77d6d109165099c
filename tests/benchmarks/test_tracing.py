"""What the trace costs is measured: that it can be, never how much it is."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.tracing import summary

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.long
def test_three_brokers_are_compared() -> None:
    command = [sys.executable, "-m", "benchmarks.tracing", "--rounds=1", "--seconds=0.3", "--warm-up=0.02"]
    command.append("--scenarios=produce-100B-16")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line.split(":")[0].strip() for line in done.stdout.splitlines()] == [
        "produce-100B-16",
        "requests",
        "on",
        "goal",
    ]


def test_ratios_are_those_within_each_round() -> None:
    rounds = [{"a": {"off": 1.0 * k, "requests": 1.4 * k, "on": 3.0}} for k in (1, 2, 3)]
    assert summary(rounds)[:2] == [
        "a: 2.00 µs for each answer without a trace",
        "  requests: 1.400 times that (1.400 to 1.400)",
    ]
