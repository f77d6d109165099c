"""`python -m mockbroker` as a process of its own."""

import subprocess
import sys
from collections.abc import Sequence
from typing import Any


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "mockbroker", *words]


def finished(words: Sequence[str], **options: Any) -> subprocess.CompletedProcess[str]:
    """What a command printed, and its status."""
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 120, "check": False}
    done: subprocess.CompletedProcess[str] = subprocess.run(words, text=True, **{**piped, **options})
    return done


def mockbroker_process(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return finished(command(*words), **options)


def started(*words: str, **options: Any) -> "subprocess.Popen[str]":
    """`mockbroker WORDS`, whose output is read from pipes."""
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process: subprocess.Popen[str] = subprocess.Popen(command(*words), text=True, **{**piped, **options})
    return process


def line_of(process: "subprocess.Popen[str]") -> str:
    """The next line that it prints, without its end."""
    assert process.stdout is not None
    return process.stdout.readline().strip()
