"""The companions' own tests, and those of an application with a real client, as its language runs them."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from companions.generate import FOLDER
from mockbroker.clients.drivers.shipped import command_for
from mockbroker.rig.downloads import for_maven
from tests.console.tools import tools


def run(command: list[str], folder: Path) -> None:
    environment = {**for_maven(), "MOCKBROKER": str(Path(sys.executable).with_name("mockbroker"))}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.needs("go")
@pytest.mark.parametrize("folder", ["go", "go/example"])
def test_go(folder: str) -> None:
    run(["go", "vet", "./..."], FOLDER / folder)
    run(["go", "test", "-count=1", "./..."], FOLDER / folder)


def test_what_the_readme_shows_stands_in_the_example() -> None:
    [shown] = re.findall(
        r"^```go\n(.*?)^```", (FOLDER.parent / "README.md").read_text(), re.DOTALL | re.MULTILINE
    )
    example = (FOLDER / "go/example/orders_test.go").read_text()
    assert all(f"\t{line}\n" in example for line in shown.splitlines())


@pytest.mark.needs("java", "mvn")
def test_java(tmp_path: Path) -> None:
    copied = shutil.copytree(FOLDER / "java", tmp_path / "java", ignore=shutil.ignore_patterns("target"))
    run(["mvn", "-B", "-q", "test"], copied)


@pytest.mark.needs("node", "npm")
def test_node(tmp_path: Path) -> None:
    copied = shutil.copytree(FOLDER / "node", tmp_path / "node")
    _, program = command_for("kafkajs")
    (copied / "example/node_modules").symlink_to(Path(program).parent / "node_modules")
    run(["node", "--test", "test/mockbroker.test.js", "example/orders.test.js"], copied)


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
