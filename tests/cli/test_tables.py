"""What commands print for people: in a pipe, and on terminals of 80 and 120 columns."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from mockbroker import Fault, MockCluster
from mockbroker.cli import tables
from mockbroker.cli.app import app
from mockbroker.cli.ctl import app as ctl

from ..driving.clients import raw_client

WORD = st.text(st.sampled_from("abc_-1"), min_size=1, max_size=12)
TEXT = st.lists(WORD, min_size=1, max_size=8).map(" ".join)
LOOKS = (
    "brokers list",
    "faults list",
    "faults show slow",
    "cluster show",
    "partitions replicas orders 0",
    "partitions show orders 0",
    "policies list",
    "policies show undefined-epoch",
    "clock show",
    "trace list",
)


@pytest.fixture(scope="module")
def cluster() -> Iterator[MockCluster]:
    topics = {"orders": 2, "a-topic-with-a-rather-long-name": 1}
    faults: list[Fault] = [{"do": "delay", "ms": 1, "name": "slow", "api": "Metadata", "topic": "orders"}]
    with MockCluster(control=True, trace=True, topics=topics, faults=faults) as cluster:
        with raw_client(cluster, client_id="shop") as client:
            client.call("metadata", 1, {"topics": [{"name": each} for each in topics]})
        cluster.policies.set("undefined-epoch", "log-end-offset", topic="orders")
        yield cluster


def said(cluster: MockCluster, *arguments: str) -> str:
    done = CliRunner().invoke(ctl, ["--url", str(cluster.control_url), *arguments])
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("command", LOOKS)
def test_no_line_is_wider_than_the_terminal_and_no_word_is_broken(
    cluster: MockCluster, command: str, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = said(cluster, *command.split())
    monkeypatch.setattr(tables, "width", lambda: columns)
    told = said(cluster, *command.split())
    assert max(map(len, told.splitlines())) <= columns
    words = set(told.replace("_", " ").split())
    assert {word for word in whole.replace("_", " ").split() if not word.isdigit()} <= words


@pytest.mark.parametrize("command", ["brokers list", "faults list", "policies list", "trace list"])
def test_in_a_pipe_a_row_is_a_line(cluster: MockCluster, command: str) -> None:
    rows = json.loads(said(cluster, *command.split(), "--json"))
    assert len(said(cluster, *command.split()).splitlines()) == len(rows) + (command != "trace list")


def test_an_event_is_a_line_with_its_number_kind_and_text(cluster: MockCluster) -> None:
    lines = said(cluster, "trace", "list", "--kind", "request").splitlines()
    [line] = [each for each in lines if "Metadata" in each]
    pattern = r" *\d+  \d\d:\d\d:\d\d\.\d{3}  request  broker 1 <- shop: Metadata v1 a-topic\S+ orders"
    assert re.fullmatch(pattern, line)


def test_json_and_the_address_are_taken_before_and_behind_the_command(cluster: MockCluster) -> None:
    url = str(cluster.control_url)
    for arguments in (
        ["--url", url, "--json", "clock", "show"],
        ["clock", "show", "--json", "--url", url],
        ["--json", "policies", "set", "undefined-epoch=undefined", "--url", url],
    ):
        done = CliRunner().invoke(ctl, arguments)
        assert done.exit_code == 0, done.output
        assert isinstance(json.loads(done.output), dict)


@given(st.lists(st.tuples(TEXT, TEXT, TEXT), min_size=1, max_size=4), st.integers(26, 60))
def test_every_word_is_there_in_its_order_within_the_width(rows: list[Any], within: int) -> None:
    lines = list(tables.table(("first_title", "second", "third"), rows, within))
    assert max(map(len, lines)) <= within
    text = " ".join(lines).split()
    for row in rows:
        for cell in row:
            words = iter(text)
            assert all(word in words for word in cell.split())
    assert all(line == line.rstrip() for line in lines)


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=5))
def test_without_a_width_a_row_is_a_line_whatever_is_in_it(rows: list[tuple[str, str]]) -> None:
    assert len(list(tables.table(("a", "b"), rows, None))) == 1 + len(rows)
    odd = [{"a": "x\ny\t\x1b[31m", "b": None, "c": [], "d": [[1, 2], [3, 4]], "e": {"k": [1]}}]
    _, line = tables.of_answer(odd, None)
    assert line == r"x\ny\t\x1b[31m  -  -  1:2, 3:4  k 1"


@pytest.mark.parametrize("columns", [80, 120])
def test_the_behaviours_are_read_at_any_width(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "width", lambda: columns)
    done = CliRunner().invoke(app, ["policies"])
    assert max(map(len, done.output.splitlines())) <= columns
    assert "\nundefined-epoch  KAFKA-19902\n" in done.output


def test_one_behaviour_is_shown_by_its_name() -> None:
    done = CliRunner().invoke(app, ["policies", "undefined-epoch", "--json"])
    assert [each["name"] for each in json.loads(done.output)] == ["undefined-epoch"]
    done = CliRunner().invoke(app, ["policies", "undefined-epcoh"])
    assert (done.exit_code, "did you mean 'undefined-epoch'" in done.output) == (2, True)
