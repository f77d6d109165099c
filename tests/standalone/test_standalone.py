"""The folder that needs no Python (`make standalone`), and an image with nothing else."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest
from confluent_kafka import Consumer, Producer

from mockbroker.version import __version__

from ..driving.processes import finished, line_of
from ..turns import one_in

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = ROOT / "build" / "standalone"
TOOLS: Final = {"altgraph", "packaging", "pyinstaller", "pyinstaller-hooks-contrib", "setuptools"}
"""They make the folder, and are not in it."""
SERVE: Final = ("serve", "--port", "0", "--brokers", "1", "--log", "json", "--until-stdin-closes")
MOST_MB: Final = 40
MOST_IMAGE_BYTES: Final = 80_000_000

pytestmark = [
    pytest.mark.long,
    pytest.mark.needs("objdump"),
    pytest.mark.timeout(900),
    pytest.mark.xdist_group("standalone"),
    one_in(3),
]


@pytest.fixture(scope="module")
def program() -> str:
    # To compress well would take half of the time.
    made = finished(["make", "standalone"], cwd=ROOT, timeout=800, env={**os.environ, "XZ_OPT": "-0"})
    assert made.returncode == 0, made.stdout + made.stderr
    return str(FOLDER / "mockbroker" / "mockbroker")


@pytest.fixture(scope="module")
def inside(program: str) -> list[str]:
    """What starts the program where there is no other file."""
    made = finished([str(ROOT / "standalone" / "root")])
    assert made.returncode == 0, made.stdout + made.stderr
    root, started = FOLDER / "root", "/mockbroker/mockbroker"
    namespace = ["unshare", "--user", "--map-root-user", f"--root={root}", started]
    if finished([*namespace, "--version"]).returncode == 0:
        return namespace
    # Containers may forbid namespaces, and allow this.
    changed = ["chroot", str(root), started]
    if finished([*changed, "--version"]).returncode == 0:
        return changed
    pytest.skip("neither unshare nor chroot is allowed here: run it as root")


def serving(words: Sequence[str], **options: object) -> tuple[subprocess.Popen[str], str]:
    """The process, and its bootstrap servers."""
    process: subprocess.Popen[str] = subprocess.Popen(  # type: ignore[call-overload]
        [*words, *SERVE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **{"env": {}, **options},
    )
    first = line_of(process)
    assert first, process.communicate()
    return process, str(json.loads(first)["bootstrap_servers"])


def round_trip(servers: str) -> None:
    producer = Producer({"bootstrap.servers": servers})
    producer.produce("orders", "order 1")
    assert producer.flush(60) == 0
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "g", "auto.offset.reset": "earliest"})
    consumer.subscribe(["orders"])
    message = consumer.poll(60)
    consumer.close()
    assert message is not None
    assert message.value() == b"order 1"


def test_a_client_is_served(program: str, tmp_path: Path) -> None:
    process, servers = serving([program], env={"TMPDIR": str(tmp_path)})
    round_trip(servers)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors, list(tmp_path.iterdir())) == (0, "", [])


def test_a_kill_leaves_no_file(program: str, tmp_path: Path) -> None:
    process, _ = serving([program], env={"TMPDIR": str(tmp_path)})
    process.kill()
    assert process.wait(60) == -signal.SIGKILL
    assert list(tmp_path.iterdir()) == []
    process.communicate()


def test_it_needs_no_other_file_but_the_c_library(inside: list[str]) -> None:
    process, servers = serving(inside)
    round_trip(servers)
    process.communicate(timeout=60)
    assert process.returncode == 0


@pytest.mark.needs("go")
def test_a_companion_starts_it(program: str) -> None:
    given = {**os.environ, "MOCKBROKER": program}
    ended = finished(["go", "test", "-count=1", "./..."], cwd=ROOT / "companions" / "go", env=given)
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.parametrize("found", ["/found", None])
def test_what_it_runs_does_not_load_its_libraries(program: str, found: str | None, tmp_path: Path) -> None:
    scenario = tmp_path / "empty.toml"
    scenario.write_text("[cluster]\nbrokers = 1\n")
    given = {} if found is None else {"LD_LIBRARY_PATH": found}
    ended = finished([program, "run", str(scenario), "--", "/usr/bin/env"], env=given)
    assert ended.returncode == 0, ended.stderr
    assert re.findall(r"^LD_LIBRARY_PATH=(.*)$", ended.stdout, re.MULTILINE) == ([found] if found else [])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--version"], f"mockbroker {__version__}\n"),
        (["policies", "undefined-epoch"], "KAFKA-19902"),
        (["explore", "--seeds", "2"], "2 histories"),
    ],
)
def test_commands_that_are_in_it(program: str, words: list[str], told: str) -> None:
    ended = finished([program, *words], env={})
    assert ended.returncode == 0, ended.stderr
    assert told in ended.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["check", "--client", "java"], "use `pip install mockbroker` for this"),
        (["conformance", "list"], "use `pip install mockbroker` for this"),
        (["analyze", "/nowhere"], "pip install 'mockbroker[analyze]'"),
    ],
)
def test_commands_that_are_not_say_how_to_get_them(program: str, words: list[str], told: str) -> None:
    ended = finished([program, *words], env={})
    assert (ended.returncode, told in ended.stderr) == (2, True), ended.stderr


def test_licences_of_all_that_is_in_it(program: str) -> None:
    pinned = re.findall(
        r"^([a-z0-9-]+)==(\S+)(?!.*win32|.*darwin)",
        (ROOT / "requirements" / "standalone.lock").read_text(),
        re.MULTILINE,
    )
    there = {each.name for each in (FOLDER / "mockbroker" / "licences").iterdir()}
    assert {f"{name}-{version}" for name, version in pinned if name not in TOOLS} - there == set()
    assert all(list(each.iterdir()) for each in (FOLDER / "mockbroker" / "licences").iterdir())


def test_the_archive_is_small(program: str) -> None:
    [archive] = FOLDER.glob("mockbroker-[0-9]*.tar.xz")
    assert archive.stat().st_size < MOST_MB << 20


def test_the_root_file_system_is_small(inside: list[str]) -> None:
    sizes = [each.stat().st_size for each in (FOLDER / "root").rglob("*") if each.is_file()]
    assert sum(sizes) < MOST_IMAGE_BYTES
