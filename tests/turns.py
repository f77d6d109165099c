"""Commits take turns in what they try in CI: each has a part of the cases, or of the tests."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar

import pytest

from .properties import thorough

Case = TypeVar("Case")


def in_turn(cases: Sequence[Case], of: int) -> list[Case]:
    """Where `CI` is set, one case of so many: the commit says where to begin. Elsewhere, and with the profile
    `thorough`, all."""
    if thorough() or not os.environ.get("CI"):
        return [*cases]
    return part(cases, of, _number())


def one_in(of: int, place: int = 0) -> pytest.MarkDecorator:
    """For a test that one commit in so many tries. Others with another `place` have other commits."""
    left_out = True not in in_turn([each == place for each in range(of)], of)
    return pytest.mark.skipif(
        left_out, reason=f"one commit in {of} tries it, and `make acceptance ARGS=left-out`"
    )


def part(cases: Sequence[Case], of: int, number: int) -> list[Case]:
    return [*cases[number % of :: of]]


@cache
def _number() -> int:
    """Of the commit; 0 where git does not tell it."""
    git = shutil.which("git")
    if git is None:
        return 0
    told = subprocess.run(
        [git, "rev-parse", "HEAD"], cwd=Path(__file__).parent, capture_output=True, text=True, check=False
    )
    return int(told.stdout[:8] or "0", 16)
