"""franz-go's own tests of share groups, which its module carries."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Final

from mockbroker.clients.drivers import building
from mockbroker.clients.drivers.shipped import PROGRAMS

from . import build

MODULE: Final = "github.com/twmb/franz-go"
TESTS: Final = (
    "TestShareGroup",
    "TestShareGroupAckOnClose",
    "TestShareGroupETL",
    "TestShareGroupOffsetsAdmin",
    "TestConsumeRegexShareSkipsInternal",
)
"""Those that ask a broker."""
_RECORDS: Final = 5_000
"""Instead of 500,000."""


def tests() -> Path:
    """The program, in a folder with franz-go's sources."""

    def steps(folder: Path) -> None:
        build.go(build.go_source(folder, MODULE), "test", "-c", "-vet=off", "-o", "kgo.test", "./pkg/kgo")

    return building.cached(PROGRAMS / "go", "franz-go-tests", steps) / "franz-go" / "kgo.test"


def run_tests(servers: str) -> dict[str, str]:
    """Runs the tests against brokers: PASS or SKIP by name."""
    program = tests()
    env = {**os.environ, "KGO_SEEDS": servers, "KGO_TEST_RF": "1", "KGO_TEST_RECORDS": str(_RECORDS)}
    command = [str(program), "-test.v", "-test.timeout=120s", f"-test.run=^({'|'.join(TESTS)})$"]
    done = subprocess.run(command, cwd=program.parent, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout[-8000:]}{done.stderr[-2000:]}"
    return {name: how for how, name in re.findall(r"^--- (PASS|FAIL|SKIP): (\S+)", done.stdout, re.MULTILINE)}
