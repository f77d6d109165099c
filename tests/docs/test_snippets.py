"""Every block of the pages does what it says, or is named below with the reason why it is not run here.

A new block is run, or fails.
"""

import inspect
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from confluent_kafka import Consumer, Producer
from typer.main import get_command

from mockbroker import MockCluster
from mockbroker.cli.app import app
from mockbroker.cli.ctl import app as ctl
from mockbroker.conformance.suite import plugin
from mockbroker.pytest_plugin.proxies import OPTION

ROOT: Final = Path(__file__).parents[2]
PAGES: Final = (
    "README.md",
    "CONTRIBUTING.md",
    "conformance/README.md",
    "benchmarks/README.md",
    "studies/README.md",
    "tests/README.md",
    *sorted(f"docs/{each.name}" for each in (ROOT / "docs").glob("*.md")),
)
ELSEWHERE: Final = (
    ("docs/control.md", "sh", "", "tests/docs/test_control.py runs it"),
    ("docs/control.md", "python", "", "tests/docs/test_control.py runs it"),
    ("docs/control.md", "java", "", "tests/docs/test_control.py runs it"),
    ("docs/control.md", "go", "", "tests/docs/test_control.py runs it"),
    ("README.md", "go", "", "stands in companions/go/example, whose tests tests/companions runs"),
    ("docs/analyze.md", "sql", "read_parquet", "is for DuckDB, which nothing else needs"),
    ("docs/spark-as-a-client.md", "python", "readStream", "needs Spark: tests/pipeline has its like"),
    (
        "docs/forgotten-producers.md",
        "python",
        "retry.wait()",
        "needs a client: tests/clients has its like",
    ),
    ("CONTRIBUTING.md", "python", "@handles", "is the head of a function"),
    ("CONTRIBUTING.md", "python", "@action", "stands in mockbroker/faults/actions/answering.py"),
    ("CONTRIBUTING.md", "python", "@verb", "stands in mockbroker/verbs/brokers.py"),
    ("conformance/README.md", "python", "@question", "is one of the questions that stand in a folder"),
    ("conformance/README.md", "python", "s.kill(1)", "is one of the stories that stand in a folder"),
)
"""Page, language and a part of each block that is not run here, and why."""
OUTPUT: Final = ("", "text", "mermaid")
OTHER_PROGRAMS: Final = {
    "pip": "installs",
    "curl": "asks a cluster that is not there",
    "cat": "shows a file that a reader writes",
    "docker": "is needed by nothing else",
    "export": "sets a variable",
    "standalone/root": "runs in tests/standalone",
    "spark-submit": "needs a cluster of Spark's",
    "kafka-configs.sh": "comes with Kafka, and runs in tests/clients/test_tools.py",
    "kafka-features.sh": "comes with Kafka, and runs in tests/clients/test_tools.py",
    "kafka-share-groups.sh": "comes with Kafka, and runs in tests/clients/test_tools.py",
    "kafka-console-share-consumer.sh": "comes with Kafka, and runs in tests/clients/test_tools.py",
    "kafka-client-metrics.sh": "comes with Kafka, and runs in tests/clients/test_tools.py",
    "kafka-delegation-tokens.sh": "comes with Kafka, and runs in tests/security/test_tokens.py",
}
WAIT_S: Final = 30.0
ADDRESS: Final = "127.0.0.1:9092"
_BLOCK: Final = re.compile(r"^( *)```(\w*)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
_MAKE: Final = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)


class Block(NamedTuple):
    """`before` is the text between it and the block before."""

    page: str
    line: int
    language: str
    code: str
    before: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def elsewhere(self) -> bool:
        return any(
            (page, language) == (self.page, self.language) and part in self.code
            for page, language, part, _ in ELSEWHERE
        )

    @property
    def is_test(self) -> bool:
        return self.language == "python" and "def test_" in self.code


def blocks(page: str) -> Iterator[Block]:
    text, end = (ROOT / page).read_text(), 0
    for match in _BLOCK.finditer(text):
        code = match[3] if not match[1] else re.sub(f"^{match[1]}", "", match[3], flags=re.MULTILINE)
        yield Block(page, text.count("\n", 0, match.start()) + 1, match[2], code, text[end : match.start()])
        end = match.end()


BLOCKS: Final = [block for page in PAGES for block in blocks(page)]


def of(*languages: str) -> list[Block]:
    return [each for each in BLOCKS if each.language in languages and not each.elsewhere]


def test_every_block_is_of_a_kind_that_is_run() -> None:
    known = {*OUTPUT, "python", "console", "toml", "json", "jsonl"}
    assert [str(each) for each in BLOCKS if each.language not in known and not each.elsewhere] == []


def test_what_is_run_elsewhere_is_still_there() -> None:
    for page, language, part, _ in ELSEWHERE:
        assert [
            each for each in BLOCKS if (each.page, each.language) == (page, language) and part in each.code
        ]


# -- Python


def _my_application(bootstrap_servers: str) -> None:
    """What examples call it: writes to each partition of `orders`, and reads it all in a group."""
    servers = {"bootstrap.servers": bootstrap_servers, "log_level": 0}
    producer = Producer(servers)
    partitions = producer.list_topics("orders", WAIT_S).topics["orders"].partitions
    sent = {f"order {number} of {partition}" for number in range(2) for partition in partitions}
    for order in sent:
        producer.produce("orders", order, partition=int(order.rpartition(" ")[2]))
    assert producer.flush(WAIT_S) == 0, "some records were not acknowledged"
    consumer = Consumer({**servers, "group.id": "billing", "auto.offset.reset": "earliest"})
    try:
        consumer.subscribe(["orders"])
        read: set[str] = set()
        while read != sent:
            message = consumer.poll(WAIT_S)
            assert message is not None, f"read {len(read)} of {len(sent)} records"
            if message.error() is None and (value := message.value()):
                read.add(value.decode())
    finally:
        consumer.close()


def _my_producer(bootstrap_servers: str) -> Producer:
    producer = Producer({"bootstrap.servers": bootstrap_servers, "enable.idempotence": True})
    for number in range(3):
        producer.produce("orders", f"order {number}")
    assert producer.flush(WAIT_S) == 0
    return producer


@pytest.mark.parametrize("page", dict.fromkeys(each.page for each in of("python") if not each.is_test))
def test_the_examples_of_a_page_run(
    page: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One after the other, each with what those before it have defined."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {
        "__name__": "example",
        "my_application": _my_application,
        "my_producer": _my_producer,
    }
    of_page = list(blocks(page))
    with MockCluster() as cluster:
        address = cluster.bootstrap_servers.split(",")[0]
        for block, following in zip(of_page, [*of_page[1:], None], strict=True):
            if block.language != "python" or block.elsewhere or block.is_test:
                continue
            # So that a traceback has the page and the line.
            code = "\n" * block.line + block.code.replace(ADDRESS, address)
            capsys.readouterr()
            exec(compile(code, str(ROOT / page), "exec"), names)
            if following is not None and "It prints" in following.before:
                assert capsys.readouterr().out == following.code


def test_the_examples_that_are_test_files_pass(tmp_path: Path) -> None:
    """All of them in one run of pytest, with the plugin."""
    tests = [each for each in of("python") if each.is_test]
    assert {each.page for each in tests} >= {"README.md", "docs/testing.md"}
    for each in tests:
        (tmp_path / _file(each)).write_text(each.code)
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\n"
        "filterwarnings = error\n"
        "addopts = --strict-markers\n"
        "asyncio_default_fixture_loop_scope = function\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "mockbroker.pytest_plugin", "-v"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert [str(each) for each in tests if f"{_file(each)}::" not in done.stdout] == []


def _file(block: Block) -> str:
    page = block.page.removesuffix(".md").replace("/", "_").replace("-", "_")
    return f"test_{page}_line_{block.line}.py"


# -- commands and files


@pytest.mark.parametrize("block", of("console"), ids=str)
def test_commands_are_such_as_there_are(block: Block) -> None:
    commands = re.findall(r"^\$ (.*)$", re.sub(r"\\\n", " ", block.code), re.MULTILINE)
    assert commands, "a block of commands has lines that begin with $"
    for command in commands:
        check(shlex.split(command, comments=True))


def check(words: list[str]) -> None:
    match words:
        case ["make", target, *rest]:
            assert target in _MAKE
            if target == "serve":
                for each in rest:
                    parse(app, ["serve", *shlex.split(each.removeprefix("ARGS="))])
        case [program, *rest] if program.rpartition("/")[2] == "mockbroker":
            parse(app, rest)
        case [python, "-m", module, *_] if python.rpartition("/")[2] == "python":
            assert find_spec(module) is not None
        case ["pytest", "--pyargs", package, *rest]:
            assert find_spec(package) is not None
            options = inspect.getsource(plugin.pytest_addoption)
            assert [each for each in rest if each.startswith("--") and f'"{each}"' not in options] == []
        case ["pytest", option, _]:
            assert option == OPTION
        case [program, *_]:
            assert program in OTHER_PROGRAMS


def parse(program: Any, words: list[str]) -> None:
    """As the command line does, but that nothing happens then."""
    command: Any = get_command(program)
    context = command.make_context("mockbroker", list(words))
    while hasattr(command, "resolve_command"):
        left = [*getattr(context, "_protected_args", ()), *context.args]
        name, command, left = command.resolve_command(context, left)
        context = command.make_context(name, left, parent=context)
    if context.info_name == "ctl":
        parse(ctl, context.args)
    elif context.info_name == "capture" and context.args:
        parse(app, ["serve", *context.args])


def test_a_command_that_is_not_there_is_noticed() -> None:
    for wrong in ("srve", "serve --brokrs 1", "ctl brokers stp 1", "capture file --brokrs 1"):
        with pytest.raises(Exception, match="No such"):
            check(["mockbroker", *wrong.split()])
    for wrong in ("make srve", "mockbrokr", "python -m mockbrokr"):
        with pytest.raises(AssertionError):
            check(wrong.split())


@pytest.mark.parametrize("block", of("toml", "json", "jsonl"), ids=str)
def test_files_can_be_read(block: Block) -> None:
    if block.language == "toml":
        tomllib.loads(block.code)
        return
    for text in block.code.splitlines() if block.language == "jsonl" else [block.code]:
        json.loads(text)
