"""Walks a tutorial: its files are written and its commands run, in the order of the page.

Commands in a block with a title need a real cluster: without one, they are left out.

`python -m tests.docs.walking [NAME...]` installs what a tutorial needs from a fresh clone, as newcomers do.
`--real` walks those that need a cluster with one broker of 4.4.0 (Java), and installs nothing.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from mockbroker.addresses import given
from mockbroker.rig.client import Client
from mockbroker.rig.real_broker import RealCluster
from mockbroker.rig.requests import create_topics, new_topic

ROOT: Final = Path(__file__).parents[2]
CHECKOUT: Final = "/path/to/mockbroker"
CLUSTER: Final = "kafka.example.com:9092"
_REAL: Final = "4.4.0"
_BLOCK: Final = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)
_ANYTHING: Final = "..."
_LIMIT_S: Final = 300


class Block(NamedTuple):
    """A file with its name, or commands with what they print."""

    language: str
    title: str
    text: str


class Command(NamedTuple):
    """`background` if it ends in `&`."""

    text: str
    output: str
    background: bool


def blocks(page: Path) -> list[Block]:
    return [Block(*found.groups(default="")) for found in _BLOCK.finditer(page.read_text())]


def commands(text: str) -> Iterator[Command]:
    for each in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = each.partition("\n")
        yield Command(command.removesuffix(" &"), output, command.endswith(" &"))


def walk(
    page: Path, folder: Path, *, install: bool, checkout: Path = ROOT, cluster: str | None = None
) -> list[str]:
    """What differed from the page. Without `install`, what `pip install` would bring is there already.
    `cluster` is the address of a real one."""
    differences = []
    environment = _environment(folder, install)
    if install:
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    status = 0
    background: list[subprocess.Popen[str]] = []
    try:
        for block in blocks(page):
            if block.title and block.language != "console":
                (folder / block.title).parent.mkdir(parents=True, exist_ok=True)
                (folder / block.title).write_text(block.text)
            runs = block.language == "console" and (not block.title or cluster is not None)
            for command in commands(block.text) if runs else ():
                text = command.text.replace(CHECKOUT, str(checkout)).replace(CLUSTER, cluster or CLUSTER)
                if text == "echo $?":
                    printed = f"{status}\n"
                elif text.startswith("kill %"):
                    printed = _ended(background.pop(int(text.removeprefix("kill %")) - 1))
                elif text.startswith("pip install") and not install:
                    continue
                elif command.background:
                    background.append(_started(text, folder, environment))
                    continue
                else:
                    status, printed = _run(text, folder, environment)
                if not text.startswith("pip") and not _fits(printed, command.output):
                    differences.append(f"$ {text}\n{printed}\nis not\n{command.output}")
    finally:
        for process in background:
            _ended(process)
    return differences


def _environment(folder: Path, install: bool) -> dict[str, str]:
    """An empty home, and nothing of this environment but its programs."""
    programs = folder / "venv/bin" if install else Path(sys.executable).parent
    (folder / "home").mkdir(exist_ok=True)
    own = {"HOME": str(folder / "home"), "PATH": f"{programs}:{os.environ['PATH']}"}
    # Where packages come from is the machine's business.
    return own | {
        name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "UV_"))
    }


def _run(text: str, folder: Path, environment: dict[str, str]) -> tuple[int, str]:
    done = subprocess.run(
        text, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=_LIMIT_S
    )
    # Progress is written to stderr, as often as there is time for it.
    return done.returncode, done.stdout or done.stderr


def _started(text: str, folder: Path, environment: dict[str, str]) -> subprocess.Popen[str]:
    """A server that has printed its first line."""
    process = subprocess.Popen(
        f"exec {text}", shell=True, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    return process


def _ended(process: subprocess.Popen[str]) -> str:
    process.terminate()
    process.communicate()
    return ""


def _fits(printed: str, wanted: str) -> bool:
    """Whether it is as the page says, where `...` stands for anything."""
    pattern = ".*".join(re.escape(part.strip()) for part in wanted.split(_ANYTHING))
    return re.fullmatch(pattern, printed.strip(), re.DOTALL) is not None


def main(names: list[str]) -> int:
    if "--real" in names:
        return _with_a_cluster()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="mockbroker-tutorials-") as name:
        clone = Path(name) / "clone"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        for page in sorted((clone / "docs/tutorials").glob("*.md")):
            if not names or page.stem in names:
                failed += _differs(page, Path(name), install=True, checkout=clone)
    return failed


def _with_a_cluster() -> int:
    pages = [each for each in (ROOT / "docs/tutorials").glob("*.md") if CLUSTER in each.read_text()]
    failed = 0
    with tempfile.TemporaryDirectory(prefix="mockbroker-tutorials-") as name:
        for page in pages:
            with RealCluster(_REAL) as cluster:
                with Client(*given(cluster.bootstrap_servers, "cluster")) as client:
                    client.call("create_topics", 7, create_topics(new_topic("orders", 2)))
                failed += _differs(page, Path(name), install=False, cluster=cluster.bootstrap_servers)
    return failed


def _differs(page: Path, folder: Path, **how: Any) -> bool:
    own = folder / page.stem
    own.mkdir()
    differences = walk(page, own, **how)
    outcome = "differs" if differences else "as written"
    print(f"{page.stem}: {outcome}", *differences, sep="\n", flush=True)  # noqa: T201
    return bool(differences)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) > 0)
