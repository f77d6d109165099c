"""Tools that a test needs, and what to do without them."""

from __future__ import annotations

import os
import shutil
from typing import NoReturn

import pytest

INSTALL = {
    "curl": "install curl",
    "go": "install Go",
    "java": "install a JDK, 11 or newer",
    "javac": "install a JDK, 11 or newer",
    "kcat": "install the package kcat",
    "mvn": "install Maven",
    "node": "install Node.js",
    "npm": "install npm",
    "tshark": "install the package tshark",
}


def missing(what: str) -> NoReturn:
    """Skip the test; fail it in CI, which has every tool."""
    if os.environ.get("CI"):
        pytest.fail(what, pytrace=False)
    pytest.skip(what)


def need(tool: str) -> str:
    """The path of a program."""
    path = shutil.which(tool)
    if path is None:
        missing(f"{tool} is not on PATH: {INSTALL[tool]}")
    return path
