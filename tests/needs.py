"""What a test needs from the machine, and so whether `make test` runs it.

A test needs what its marker `needs` names, what its fixtures bring (`@brings`), and what a client
needs that one of its parameters is named after. Whatever a test starts beyond that fails it: see conftest.py.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, NoReturn, TypeVar

import pytest

JAVA: Final = ("java", "javac", "mvn")
SPARK: Final = ("java", "mvn", "pyspark")
PACKAGES: Final = ("mkdocs", "playwright", "pyspark")
"""Python packages that `make setup-dev` leaves out."""
INSTALL: Final = {
    "cargo": "install Rust",
    "chromium": "install the package chromium",
    "curl": "install curl",
    "go": "install Go",
    "java": "install a JDK, 17 or newer",
    "javac": "install a JDK, 17 or newer",
    "kcat": "install the package kcat",
    "mvn": "install Maven",
    "node": "install Node.js",
    "npm": "install npm",
    "objdump": "install the package binutils",
    "openssl": "install the package openssl",
    "tshark": "install the package tshark",
}
CLIENTS: Final = {"java": JAVA, "kafkajs": ("node", "npm"), "kcat": ("kcat",)}
"""First words of a client's names: `java-4.4`, `Java 2.3.1`, `java_sends`."""
ADDONS: Final = {"confluent-kafka-javascript"}
"""npm compiles these where nothing is made for the machine."""
BUILT_FOR_MINUTES: Final = pytest.mark.skipif(
    bool(os.environ.get("CI")), reason="it is built from source, for minutes: `make acceptance` does"
)

_FIRST_WORD: Final = re.compile(r"[a-z]+")
_ATTRIBUTE: Final = "_brings"
F = TypeVar("F", bound=Callable[..., object])

declared: frozenset[str] | None = None
"""What the test that runs needs; None before the first."""


def brings(*what: str) -> Callable[[F], F]:
    """For fixtures: whoever asks for it needs this. Stands below `@pytest.fixture`."""

    def mark(function: F) -> F:
        setattr(function, _ATTRIBUTE, what)
        return function

    return mark


def of(item: pytest.Item) -> frozenset[str]:
    """What a test needs."""
    found = {name for mark in item.iter_markers("needs") for name in mark.args}
    if isinstance(item, pytest.Function):
        for definitions in item._fixtureinfo.name2fixturedefs.values():
            found.update(*(getattr(each.func, _ATTRIBUTE, ()) for each in definitions))
        if (call := getattr(item, "callspec", None)) is not None:
            found.update(*map(_of_value, call.params.values()))
    unknown = found - INSTALL.keys() - set(PACKAGES)
    assert not unknown, f"{item.nodeid} needs {unknown}: not one of {[*INSTALL, *PACKAGES]}"
    return frozenset(found)


def _of_value(value: object) -> Iterable[str]:
    name = value if isinstance(value, str) else getattr(value, "__name__", "")
    word = _FIRST_WORD.match(str(name).lower())
    return CLIENTS.get(word[0], ()) if word else ()


def missing(what: str) -> NoReturn:
    """Skip the test; fail it in CI, which has everything."""
    if os.environ.get("CI"):
        pytest.fail(what, pytrace=False)
    pytest.skip(what)


def need(program: str) -> str:
    """The path of a program. Skips or fails the test without it; fails one that doesn't say it needs it."""
    if declared is not None and program not in declared:
        pytest.fail(f'a test that needs {program} says so: @pytest.mark.needs("{program}")', pytrace=False)
    path = shutil.which(program)
    if path is None:
        missing(f"{program} is not on PATH: {INSTALL[program]}")
    return path


_PRETENDER: Final = """#!/bin/sh
echo "${0##*/} $*" >> "${0%/*}/started"
echo "${0##*/}: the test that starts it has no marker for it: @pytest.mark.needs" >&2
exit 127
"""


class Pretenders:
    """Programs in place of those that a test doesn't say it needs: they write down how they are started."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._real = os.environ["PATH"]
        for program in INSTALL:
            (folder / program).mkdir()
            path = folder / program / program
            path.write_text(_PRETENDER)
            path.chmod(0o755)

    def stand_in(self, needed: frozenset[str]) -> None:
        """From now on for all programs but these."""
        shut = [str(self._folder / program) for program in INSTALL if program not in needed]
        os.environ["PATH"] = os.pathsep.join([*shut, self._real])

    def leave(self) -> None:
        os.environ["PATH"] = self._real

    def started(self) -> list[str]:
        """The command lines since the last time."""
        found: list[str] = []
        for file in self._folder.glob("*/started"):
            found += file.read_text().splitlines()
            file.unlink()
        return found
