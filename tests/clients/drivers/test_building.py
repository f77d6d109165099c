"""Programs of other languages are built once, whatever folders they have."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mockbroker.clients.drivers import building
from mockbroker.clients.drivers.building import BuildError


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOCKBROKER_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "inner").mkdir(parents=True)
    (folder / "outer.txt").write_text("1")
    (folder / "inner" / "inner.txt").write_text("1")
    return folder


def test_a_project_is_built_again_only_after_a_change(project: Path) -> None:
    built: list[str] = []

    def build(folder: Path) -> None:
        built.append((folder / "inner" / "inner.txt").read_text())
        (folder / "made").touch()

    first = building.cached(project, "program", build)
    assert (first / "made").exists()
    assert building.cached(project, "program", build) == first
    assert built == ["1"]

    (project / "inner" / "inner.txt").write_text("2")
    assert building.cached(project, "program", build) != first
    assert built == ["1", "2"]


def test_what_several_want_is_built_by_one_of_them(project: Path) -> None:
    all_ask, another_builds, first = threading.Barrier(4), threading.Event(), threading.Lock()

    def build(folder: Path) -> None:
        if first.acquire(blocking=False):
            assert not another_builds.wait(0.5)
        else:
            another_builds.set()

    def ask() -> Path:
        all_ask.wait(60)
        return building.cached(project, "program", build)

    with ThreadPoolExecutor() as threads:
        asked = [threads.submit(ask) for _ in range(all_ask.parties)]
        assert len({each.result(60) for each in asked}) == 1
    assert not another_builds.is_set()


def test_a_build_that_fails_says_why_and_leaves_nothing(project: Path) -> None:
    def build(folder: Path) -> None:
        building.step([sys.executable, "-c", "raise SystemExit('no such module')"], folder)

    for _ in range(2):
        with pytest.raises(BuildError, match="no such module"):
            building.cached(project, "program", build)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "-O0 -O0 -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"),
        (
            {"CFLAGS": "-O1", "CXXFLAGS": "-O2", "MAVEN_OPTS": "-XX:+UseParallelGC"},
            "-O1 -O2 -XX:+UseParallelGC",
        ),
    ],
)
def test_builds_are_cheap_unless_the_user_sets_how(
    given: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("CFLAGS", "CXXFLAGS", "MAVEN_OPTS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    building.step(["sh", "-c", 'echo "$CFLAGS $CXXFLAGS $MAVEN_OPTS" > said'], tmp_path)
    assert (tmp_path / "said").read_text() == f"{said}\n"


def test_a_missing_tool_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BuildError, match="needs go: it is not on PATH"):
        building.need("go")
