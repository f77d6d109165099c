"""KAFKA-20634 with real clients: a commit is acknowledged and lost, and is not under the right answer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mockbroker.scenario.playing import CHECKS_FAILED

FOLDER = Path(__file__).parents[2] / "studies" / "deposed_coordinator"
VERSIONS = {"java-4.4": ("java", "4.4.0"), "confluent-kafka": ("confluent-kafka",), "franz-go": ("franz-go",)}


def play(answer: str, client: str) -> tuple[int, list[dict[str, Any]]]:
    """The status of `mockbroker run`, and what the client told."""
    run = [sys.executable, "-m", "mockbroker", "run", "--policy", f"deposed-coordinator={answer}"]
    shipping = [sys.executable, str(FOLDER / "shipping.py"), *VERSIONS[client]]
    done = subprocess.run(
        [*run, str(FOLDER / "deposed.toml"), "--", *shipping], capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, CHECKS_FAILED), done.stderr
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.long
@pytest.mark.parametrize(
    "client", ["java-4.4", "confluent-kafka", pytest.param("franz-go", marks=pytest.mark.needs("go"))]
)
def test_ten_orders_are_shipped_twice(client: str) -> None:
    status, told = play("acknowledges", client)
    assert status == CHECKS_FAILED
    assert {"group": "shipping", "commit": "acknowledged"} in told
    assert told[-1] == {"run": 2, "committed": 10, "shipped": list(range(10, 20))}


@pytest.mark.long
@pytest.mark.parametrize("client", ["confluent-kafka"])
def test_each_order_is_shipped_once(client: str) -> None:
    status, told = play("refuses", client)
    assert status == 0
    assert told[-1] == {"run": 2, "committed": 20, "shipped": []}
