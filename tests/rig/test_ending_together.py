"""Real brokers are not left behind."""

from __future__ import annotations

import subprocess
import sys

from mockbroker.rig.ending_together import EndingTogether

PARENT = """
import subprocess, sys
from mockbroker.rig.ending_together import EndingTogether
group = EndingTogether()
child = subprocess.Popen(["sleep", "600"], process_group=group.id)
print(child.pid, flush=True)
child.wait()
"""


def test_they_end_with_whoever_is_killed() -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    assert int(parent.stdout.readline())
    parent.kill()
    # The child has inherited stdout, which ends once both have.
    assert parent.communicate(timeout=60)[0] == b""


def test_nobody_is_killed_who_is_not_guarded_any_more() -> None:
    group = EndingTogether()
    with subprocess.Popen(
        ["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=group.id
    ) as one:
        group.close()
        assert one.communicate(b"still there", timeout=60)[0] == b"still there"
    assert one.returncode == 0
