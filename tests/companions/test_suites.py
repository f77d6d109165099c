"""The companions' own tests, and those of an application with a real client, as its language runs them. Those
with many clusters are in `test_many.py`."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from companions.generate import FOLDER
from companions.suites import copied
from mockbroker.rig.downloads import cache_folder, for_maven
from tests.console.tools import tools
from tests.needs import BUILT_FOR_MINUTES
from tests.turns import one_in


def run(command: list[str], folder: Path, limit_s: int = 300, **environment: str) -> None:
    mine = {"MOCKBROKER": str(Path(sys.executable).with_name("mockbroker")), **environment}
    done = subprocess.run(
        command,
        cwd=folder,
        env={**for_maven(), **mine},
        capture_output=True,
        text=True,
        timeout=limit_s,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.needs("go")
@pytest.mark.parametrize("folder", ["go", "go/example"])
def test_go(folder: str) -> None:
    run(["go", "vet", "./..."], FOLDER / folder)
    run(["go", "test", "-count=1", "-skip=TestMany", "./..."], FOLDER / folder)


@pytest.mark.needs("cargo")
@pytest.mark.timeout(900)
@pytest.mark.parametrize("folder", ["rust", pytest.param("rust/example", marks=BUILT_FOR_MINUTES)])
def test_rust(folder: str) -> None:
    """Crates are compiled once for all checkouts: for a minute or more, that of rskafka."""
    target = str(cache_folder() / "clients" / "companions-rust-target")
    run(["cargo", "fmt", "--check"], FOLDER / folder)
    run(["cargo", "test", "--locked", "--quiet"], FOLDER / folder, 840, CARGO_TARGET_DIR=target)


@pytest.mark.parametrize(
    ("page", "language", "example"),
    [
        ("README.md", "go", "go/example/orders_test.go"),
        ("companions/rust/README.md", "rust", "rust/example/tests/orders.rs"),
        ("companions/java/README.md", "java", "java/examples/spring/src/test/java/example/BillingTest.java"),
    ],
)
def test_what_a_readme_shows_stands_in_the_example(page: str, language: str, example: str) -> None:
    text = (FOLDER.parent / page).read_text()
    *_, shown = re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    there = {line.strip() for line in (FOLDER / example).read_text().splitlines()}
    assert {line.strip() for line in shown.splitlines()} <= there


@pytest.mark.needs("java", "mvn")
def test_java(tmp_path: Path) -> None:
    run(["mvn", "-B", "-q", "test", "-Dsurefire.excludes=**/ManyTest*,**/*$*"], copied("java", tmp_path))


@one_in(3, 1)
@pytest.mark.needs("java", "mvn")
def test_java_with_spring_boot_and_kafka_streams(tmp_path: Path) -> None:
    """The companion is compiled with them, and its own tests are left to the test above."""
    examples = ["-Dtest=BillingTest,CountingTest", "-Dsurefire.failIfNoSpecifiedTests=false"]
    run(["mvn", "-B", "-q", "test", *examples], copied("java", tmp_path) / "examples")


@pytest.mark.needs("node", "npm")
def test_node(tmp_path: Path) -> None:
    run(["node", "--test", "test/mockbroker.test.js", "example/orders.test.js"], copied("node", tmp_path))


@pytest.mark.needs("node", "npm")
def test_types_for_typescript(tmp_path: Path) -> None:
    for file in (FOLDER / "node").glob("*.d.ts"):
        shutil.copy(file, tmp_path)
    (tmp_path / "test.ts").write_text("""\
import { withCluster, MockBrokerError } from './index.js'

await withCluster({ kafka: '3.9', topics: { orders: 1 } }, async (cluster) => {
  const lost = await cluster.addFault({ do: 'disconnect', api: 'Produce', when: 'after', nth: 1 })
  await cluster.addFault({ do: 'disconnect', when: 'before', optional: true })
  await cluster.moveLeader('orders', 0, { to: 2 })
  // @ts-expect-error: no such action
  await cluster.addFault({ do: 'disconect' })
  const hits: number = await lost.hits()
  if (!hits) throw new MockBrokerError(`${(await cluster.records('orders'))[0]?.value}`)
})
""")
    options = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--types", ""]
    (tmp_path / "package.json").write_text('{"type": "module"}')
    run([str(tools() / "node_modules/.bin/tsc"), *options, "test.ts"], tmp_path)
