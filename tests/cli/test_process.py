"""What programs in other languages rely on: docs/process.md."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mockbroker.version import CONTRACT, __version__

from ..control.asking import ask
from ..driving.processes import command, line_of, mockbroker_process, started

PAGE = Path(__file__).parents[2] / "docs" / "process.md"
UNTIL = ("serve", "--port", "0", "--brokers", "1", "--until-stdin-closes")
PARENT = """
import subprocess, sys
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE)
print(child.pid, file=sys.stderr, flush=True)
child.wait()
"""


def test_the_first_line_has_what_the_page_says() -> None:
    process = started(*UNTIL, "--log", "json", "--control", "0", stdin=subprocess.PIPE)
    first = json.loads(line_of(process))
    assert (first["event"], first["contract"], first["version"]) == ("serving", CONTRACT, __version__)
    assert ask("GET", f"{first['control_url']}/cluster")[1]["bootstrap_servers"] == first["bootstrap_servers"]
    example = re.search(r"```json\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert example is not None
    assert json.loads(example[1]).keys() == first.keys()
    assert f"**contract {CONTRACT}**" in PAGE.read_text()
    process.communicate(timeout=60)
    assert process.returncode == 0


@pytest.mark.parametrize("log", ["text", "json"])
def test_it_ends_when_stdin_closes_whatever_was_written_to_it(log: str) -> None:
    process = started(*UNTIL, "--log", log, stdin=subprocess.PIPE)
    assert line_of(process)
    _, errors = process.communicate("not looked at\n", timeout=60)
    assert (process.returncode, errors) == (0, "")


def test_a_parent_that_is_killed_leaves_nothing_running() -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, *command(*UNTIL)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert parent.stderr is not None
    child = int(parent.stderr.readline())
    try:
        assert line_of(parent).startswith("127.0.0.1:")
        parent.kill()
        # Both have inherited stdout and stderr, which end once the second of them has.
        _, errors = parent.communicate(timeout=60)
        assert errors == ""
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise


def test_a_signal_ends_it_while_stdin_is_open() -> None:
    process = started(*UNTIL, stdin=subprocess.PIPE)
    assert line_of(process)
    process.terminate()
    assert process.wait(timeout=60) == 0
    process.communicate()


def test_a_stdin_that_is_closed_already_is_refused() -> None:
    done = mockbroker_process(*UNTIL, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout) == (2, "")
    assert "start mockbroker with a pipe as its stdin" in done.stderr
