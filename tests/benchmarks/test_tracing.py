"""What the trace costs is measured: that it can be, never how much it is."""

import subprocess
import sys
from pathlib import Path
from types import FunctionType

import pytest

from benchmarks.traced import without_looks
from benchmarks.tracing import told
from mockbroker.server.connection import Connection
from mockbroker.server.pump import Pump

ROOT = Path(__file__).resolve().parents[2]


def test_four_brokers_are_compared() -> None:
    command = [sys.executable, "-m", "benchmarks.tracing", "--rounds=1", "--seconds=0.3", "--warm-up=0.02"]
    command.append("--scenarios=produce-100B-16")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line.split(":")[0].strip() for line in done.stdout.splitlines()] == [
        "produce-100B-16",
        "idle",
        "requests",
        "on",
        "goals",
    ]


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (Connection._answer_frame, {"faults", "armed", "trace", "on", "_traced", "_touched"}),
        (Connection._deliver, {"trace", "on", "_tell"}),
        (Pump._pump, {"trace"}),
        (Pump._follow, {"trace"}),
    ],
)
def test_the_looks_for_faults_and_trace_are_cut_out(function: object, names: set[str]) -> None:
    assert isinstance(function, FunctionType)
    assert names <= set(function.__code__.co_names)
    cut = without_looks(function)
    assert isinstance(cut, FunctionType)
    left = set(cut.__code__.co_names)
    assert names.isdisjoint(left)
    assert len(left) >= len(set(function.__code__.co_names)) - len(names) - 2


def test_what_has_no_look_is_told() -> None:
    with pytest.raises(LookupError, match="looks for neither"):
        without_looks(Connection.send)


def test_ratios_are_those_within_each_round() -> None:
    rounds = [{"a": {"without": 1.0 * k, "idle": 1.1 * k, "requests": 1.4, "on": 3.0}} for k in (1, 2, 3)]
    assert told(rounds)[:2] == [
        "a: 2.00 µs for each answer without a look for the trace",
        "  idle: 1.100 times that (1.100 to 1.100)",
    ]
