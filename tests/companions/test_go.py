"""The package for Go: what is generated for it, its own tests, and an application's with franz-go."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from companions.generate import GO, NAMES, go_files
from mockbroker import MockCluster
from mockbroker.control.table import OPERATIONS

pytestmark = pytest.mark.needs("go")
OF_ITS_OWN = {
    "move_transaction_coordinator": "move_coordinator",
    "set_policy": "policies.set",
    "reset_policy": "policies.reset",
    "clear_faults": "faults.clear",
    "advance_clock": "clock.advance",
}
"""Where a method of Python takes several things, or belongs to a part of the cluster."""
LEFT_OUT = {"faults-add", "faults-preview", "faults-pause", "faults-release", "faults-remove"}
LEFT_OUT |= {"tokens-issue", "certificates-show"}


def test_what_is_generated_is_that_of_this_checkout() -> None:
    for name, text in go_files().items():
        assert (GO / name).read_text() == text, f"{name} is stale: python -m companions.generate"


def test_everything_that_can_be_done_to_a_cluster_has_a_method_named_as_in_python() -> None:
    acts = {name.replace(" ", "-") for name, each in OPERATIONS.items() if each.method != "GET"}
    assert acts - LEFT_OUT == set(NAMES)
    with MockCluster(brokers=1) as cluster:
        for name in NAMES.values():
            found: object = cluster
            for part in OF_ITS_OWN.get(name, name).split("."):
                found = getattr(found, part)


@pytest.mark.parametrize("module", [GO, GO / "example"], ids=["package", "example"])
def test_its_own_tests(module: Path) -> None:
    mockbroker = str(Path(sys.executable).with_name("mockbroker"))
    done = subprocess.run(
        ["go", "test", "-count=1", "./..."],
        cwd=module,
        env={**os.environ, "MOCKBROKER": mockbroker},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.match(r"ok\s", done.stdout)
