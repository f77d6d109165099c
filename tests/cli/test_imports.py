"""What a program imports before it serves is what its user waits for: counted in modules."""

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

SERVE: Final = """
import os, sys

class Printed:
    encoding = "utf-8"

    def write(self, text):
        sys.__stdout__.write(chr(10).join(sys.modules))
        sys.__stdout__.flush()
        os._exit(0)

    def flush(self): ...

sys.argv = ["mockbroker", "serve", "--port", "0", *sys.argv[1:]]
sys.stdout = Printed()
from mockbroker.cli import main
main()
"""
"""Ends when the cluster is ready: then it prints its address."""

OF_OTHERS: Final = (
    "click",
    "construct",
    "crc32c",
    "duckdb",
    "h11",
    "hypercorn",
    "hypothesis",
    "kio",
    "multiprocessing",
    "prometheus_client",
    "pyarrow",
    "pydantic",
    "pytest",
    "rich",
    "starlette",
    "trio",
    "typer",
)
OF_PYTHON: Final = ("asyncio", "importlib.metadata", "ssl", "tempfile")
OWN: Final = (
    "mockbroker.captures",
    "mockbroker.clients",
    "mockbroker.conformance",
    "mockbroker.console",
    "mockbroker.contents",
    "mockbroker.control",
    "mockbroker.coordinators",
    "mockbroker.dumps",
    "mockbroker.log.log",
    "mockbroker.names",
    "mockbroker.pipeline",
    "mockbroker.protocol.messages",
    "mockbroker.pytest_plugin",
    "mockbroker.replication.partition",
    "mockbroker.rig",
    "mockbroker.scenario",
    "mockbroker.simulation",
    "mockbroker.cli.app",
    "mockbroker.trace.recorder",
    "mockbroker.trace.events",
    "mockbroker.verbs.table",
)
MOST_OWN: Final = 200
"""Modules of mockbroker; 190 when this was written. Each takes a third of a millisecond."""
MOST: Final = 360
"""All modules; 323 then."""


def imported(program: str, *arguments: str) -> list[str]:
    """The modules that it has imported when it is ready."""
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.split()


def of(names: tuple[str, ...], modules: list[str]) -> list[str]:
    return [each for each in modules if any(each == name or each.startswith(f"{name}.") for name in names)]


@pytest.fixture(scope="module")
def serving() -> list[str]:
    return imported(SERVE)


def test_serve_imports_what_it_uses(serving: list[str]) -> None:
    assert of(OF_OTHERS + OF_PYTHON + OWN, serving) == []


def test_serve_imports_few_modules(serving: list[str]) -> None:
    own = of(("mockbroker",), serving)
    assert len(own) <= MOST_OWN, f"{len(own)} modules of mockbroker: import some where they are used"
    assert len(serving) <= MOST, f"{len(serving)} modules: import some where they are used"


FIRST: Final = """
import sys
from mockbroker.apis.advertised import advertised
from mockbroker.protocol.releases import parse
from mockbroker.protocol.schema import load

advertised(parse("4.4"))
load("api_versions", 0, "Request")
print(*sys.modules)
"""
"""Reads what the first request of a client needs."""


def test_the_first_request_imports_no_hypothesis() -> None:
    found = imported(FIRST)
    assert of(("kio.schema.api_versions",), found)
    assert of(("hypothesis", "pytest"), found) == []


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (("--fault", "disconnect api=Produce"), ("mockbroker.faults.actions.changes",)),
        (("--control", "0"), ("starlette", "hypercorn", "mockbroker.control")),
        (("--brokers", "2", "--brokers", "1"), ("typer",)),
    ],
)
def test_options_import_more(arguments: tuple[str, ...], names: tuple[str, ...]) -> None:
    found = imported(SERVE, *arguments)
    assert all(of((name,), found) for name in names)


MOST_OF_PLUGIN: Final = 12
"""Modules of mockbroker that pytest imports in every run."""

PYTEST: Final = """
import os, sys, pytest

class Last:
    def pytest_sessionfinish(self):
        sys.stdout.flush()
        with open(os.environ["MODULES"], "w") as file:
            file.write(" ".join(sys.modules))

pytest.main(["-q", "-p", "mockbroker.pytest_plugin.entry", *sys.argv[1:]], plugins=[Last()])
"""


def test_a_run_of_pytest_that_asks_for_no_cluster_imports_next_to_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "test_none.py").write_text("def test_nothing(): pass\n")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("MODULES", str(tmp_path / "modules"))
    subprocess.run([sys.executable, "-c", PYTEST, "test_none.py"], cwd=tmp_path, check=True, timeout=60)
    modules = (tmp_path / "modules").read_text().split()
    own = of(("mockbroker",), modules)
    assert "mockbroker.pytest_plugin" in own
    assert len(own) <= MOST_OF_PLUGIN, own
    assert of(OF_OTHERS, modules) == of(("pytest",), modules)
