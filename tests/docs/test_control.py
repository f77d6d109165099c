"""Every example of the page on control does what it says."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from docs.generate import REFERENCE
from mockbroker import MockCluster
from mockbroker.clients.drivers import building

from .. import needs

PAGE = (REFERENCE.parent / "control.md").read_text()
JUNIT = "org.junit.platform:junit-platform-console-standalone:1.11.4"


def example(language: str, number: int = 0) -> str:
    found: list[str] = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return found[number]


@pytest.fixture
def cluster() -> Iterator[MockCluster]:
    with MockCluster(
        control=True, topics={"orders": 1}, config={"default.replication.factor": "3"}
    ) as started:
        yield started


def run(cluster: MockCluster, command: Sequence[str], folder: Path) -> str:
    scripts = str(Path(sys.executable).parent)
    environment = {
        **os.environ,
        "PATH": scripts + os.pathsep + os.environ["PATH"],
        "BOOTSTRAP_SERVERS": cluster.bootstrap_servers,
        "MOCKBROKER_CONTROL": cluster.control_url,
    }
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def written(cluster: MockCluster) -> list[int]:
    """How many records each replica has."""
    return [replica.log_end_offset for replica in cluster.replicas("orders", 0)]


@pytest.mark.needs("curl", "kcat")
def test_shell(cluster: MockCluster, tmp_path: Path) -> None:
    assert '"hits":1' in run(cluster, ["sh", "-c", example("sh")], tmp_path)
    assert written(cluster) == [2, 2, 2]


@pytest.mark.needs("kcat")
def test_python(cluster: MockCluster, tmp_path: Path) -> None:
    run(cluster, [sys.executable, "-c", example("python")], tmp_path)
    assert written(cluster) == [2, 2, 2]


def test_the_trace_as_it_comes(cluster: MockCluster, tmp_path: Path) -> None:
    assert run(cluster, [sys.executable, "-c", example("python", 1)], tmp_path) == "broker 2 leads\n"


@pytest.mark.needs("go", "kcat")
def test_go(cluster: MockCluster, tmp_path: Path) -> None:
    go = needs.need("go")
    (tmp_path / "main.go").write_text(example("go"))
    assert '"hits":1' in run(cluster, [go, "run", "main.go"], tmp_path)
    assert written(cluster) == [2, 2, 2]


@pytest.mark.needs(*needs.JAVA, "kcat")
def test_java(cluster: MockCluster, tmp_path: Path) -> None:
    java, javac, maven = needs.need("java"), needs.need("javac"), needs.need("mvn")
    (tmp_path / "OrdersTest.java").write_text(example("java"))

    def build(folder: Path) -> None:
        copy = ["dependency:copy", f"-Dartifact={JUNIT}", "-DoutputDirectory=lib"]
        building.step([maven, "-B", "-q", *copy], folder)
        building.step([javac, "-cp", "lib/*", "-d", "classes", "OrdersTest.java"], folder)

    built = building.cached(tmp_path, "junit", build)
    [jar] = (built / "lib").iterdir()
    junit = [java, "-jar", str(jar), "execute", "-cp", str(built / "classes"), "-c", "OrdersTest"]
    assert "1 tests successful" in run(cluster, junit, tmp_path)
    assert written(cluster) == [2, 2, 2]


@pytest.mark.needs("curl")
def test_commands(cluster: MockCluster, tmp_path: Path) -> None:
    out = run(cluster, ["sh", "-e", "-c", example("sh", 1)], tmp_path)
    assert '"state": "leader"' in out
    assert cluster.policies.answer("undefined-epoch", topic="orders") == "log-end-offset"


@pytest.mark.needs("kcat")
def test_scenario(cluster: MockCluster, tmp_path: Path) -> None:
    (tmp_path / "lost.toml").write_text(example("toml"))
    command = re.search(r"^\$ (mockbroker run .*)$", PAGE, re.MULTILINE)
    assert command is not None
    run(cluster, ["sh", "-c", command[1]], tmp_path)
