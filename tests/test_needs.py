"""Tests get what they say they need, and nothing else: conftest.py and needs.py in a project of their own."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent
TESTS = """
import subprocess
import pytest
from . import needs

@pytest.fixture
@needs.brings("node")
def node(): ...

@pytest.mark.needs("java")
def test_marked():
    assert subprocess.run([needs.need("java")], stdout=subprocess.PIPE).stdout == b"the real one"

def test_of_a_fixture(node): ...

@pytest.mark.parametrize("client", ["java-4.4", "Java 2.3.1", "librdkafka"])
def test_of_a_client(client): ...

def kcat(): ...

@pytest.mark.parametrize("client", [kcat])
def test_of_a_function(client): ...

def test_plain(): ...

def test_starts_java():
    subprocess.run("java -version", shell=True)

def test_starts_java_and_sees_that_it_fails():
    assert subprocess.run("java -version", shell=True).returncode == 127

def test_asks_for_go():
    needs.need("go")

@pytest.mark.long
def test_long(): ...
"""
MODULE = """
import pytest

@pytest.fixture(scope="module")
def made(): ...

@pytest.mark.parametrize("number", range(6))
def test_it(made, number): ...
"""

Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs those tests on a machine that has Java alone: what pytest prints."""
    project, programs = tmp_path / "project", tmp_path / "programs"
    project.joinpath("tests").mkdir(parents=True)
    programs.mkdir()
    java = programs / "java"
    java.write_text("#!/bin/sh\nprintf 'the real one'\n")
    java.chmod(0o755)
    programs.joinpath("sh").symlink_to("/bin/sh")
    for name in ("__init__.py", "conftest.py", "needs.py"):
        shutil.copy(HERE / name, project / "tests")
    project.joinpath("tests/test_it.py").write_text(TESTS)
    project.joinpath("tests/test_module.py").write_text(MODULE)
    shutil.copy(ROOT / "pyproject.toml", project)

    def pytest_prints(*arguments: str, environment: Mapping[str, str] | None = None) -> str:
        command = [sys.executable, "-m", "pytest", "-v", "-p", "no:randomly", "-p", "no:cacheprovider"]
        done = subprocess.run(
            [*command, *arguments],
            cwd=project,
            env={**os.environ, "CI": "", "PATH": str(programs), **(environment or {})},
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        return done.stdout + done.stderr

    return pytest_prints


def outcomes(printed: str) -> dict[str, str]:
    lines = re.findall(r"^tests/test_it.py::(.+?) ([A-Z]{5,})\b", printed, re.MULTILINE)
    found: dict[str, str] = {}
    for name, outcome in lines:
        found[name] = f"{found[name]} {outcome}" if name in found else outcome
    return found


def test_what_is_started_is_declared(run: Run) -> None:
    printed = run()
    assert outcomes(printed) == {
        "test_marked": "PASSED",
        "test_of_a_fixture": "SKIPPED",
        "test_of_a_client[java-4.4]": "SKIPPED",
        "test_of_a_client[Java 2.3.1]": "SKIPPED",
        "test_of_a_client[librdkafka]": "PASSED",
        "test_of_a_function[kcat]": "SKIPPED",
        "test_plain": "PASSED",
        "test_starts_java": "PASSED ERROR",
        "test_starts_java_and_sees_that_it_fails": "PASSED ERROR",
        "test_asks_for_go": "FAILED",
        "test_long": "PASSED",
    }
    assert "node is not on PATH: install Node.js" in printed
    assert "kcat is not on PATH: install the package kcat" in printed
    assert "started without a marker `needs` for it: ['java -version']" in printed
    assert 'a test that needs go says so: @pytest.mark.needs("go")' in printed


def test_the_tier_is_chosen_by_the_marker(run: Run) -> None:
    """`make test` leaves some out, and `make test-all` runs all."""
    chosen = dict(re.findall(r'^(QUICK) := "(.*)"$', (ROOT / "Makefile").read_text(), re.MULTILINE))
    quick = {
        "test_of_a_client[librdkafka]",
        "test_plain",
        "test_starts_java",
        "test_starts_java_and_sees_that_it_fails",
        "test_asks_for_go",
    }
    assert set(outcomes(run("-m", chosen["QUICK"]))) == quick
    assert set(outcomes(run())) - quick >= {"test_long", "test_marked"}


def test_a_fixture_of_a_module_is_set_up_in_one_worker(run: Run) -> None:
    printed = run("-n2", "--dist=loadgroup", "--no-loadscope-reorder")
    workers = re.findall(r"^\[(gw\d)\] .* PASSED tests/test_module\.py", printed, re.MULTILINE)
    assert len(workers) == 6
    assert len(set(workers)) == 1


def test_in_ci_nothing_may_be_missing(run: Run) -> None:
    found = outcomes(run("-m", "needs", environment={"CI": "true"}))
    assert found.pop("test_marked") == "PASSED"
    assert set(found.values()) == {"ERROR"}


def pins(lock: str) -> set[str]:
    """Packages and versions; on which platforms, differs where another package needs one, too."""
    return set(re.findall(r"^(\S+==\S+).*? \\$", (ROOT / "requirements" / lock).read_text(), re.MULTILINE))


def test_the_sets_of_packages_are_in_each_other() -> None:
    run_time, dev, everything = pins("run.lock"), pins("dev.lock"), pins("all.lock")
    assert run_time < dev < everything
    site = pins("site.lock")
    assert run_time < site < everything
    names = {each.partition("==")[0] for each in dev | site}
    assert names.isdisjoint({"pyspark", "pandas", "py4j"})
