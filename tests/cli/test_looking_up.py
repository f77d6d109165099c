"""What a new user asks first: `mockbroker`, `faults`, `errors`, `doctor`."""

import json
import re
import shlex
from pathlib import Path

import pytest

from mockbroker.apis.advertised import advertised
from mockbroker.cli import doctor
from mockbroker.cli.app import app
from mockbroker.cli.faults import example
from mockbroker.cli.given import faults
from mockbroker.faults.actions import ACTIONS
from mockbroker.faults.fault import parse as fault_of
from mockbroker.faults.legal import is_legal
from mockbroker.faults.match import parse_api
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.releases import parse

from .in_process import mockbroker


def said(*words: str, status: int = 0) -> str:
    done = mockbroker(*words)
    assert done.exit_code == status
    return done.output


def test_without_arguments_it_says_what_to_do_next() -> None:
    text = said()
    commands = re.findall(r"^  mockbroker (\S+)", text, re.MULTILINE)
    assert commands[0] == "serve"
    for each in commands:
        assert said(*(each, "--help") if not each.startswith("-") else (each,))


def test_the_help_has_every_command_in_a_group() -> None:
    text = said("--help")
    assert "\nMore:" not in text
    listed = re.findall(r"^  ([a-z]+) {2,}[A-Z]", text.partition("A cluster to test with:")[2], re.MULTILINE)
    assert len(set(listed)) == len(listed)
    named = {each.name or each.callback.__name__ for each in app.registered_commands if each.callback}
    assert named == set(listed)


def test_every_fault_is_listed() -> None:
    lines = said("faults").splitlines()
    assert {line.split(" ")[0] for line in lines[1 : len(ACTIONS) + 1]} == set(ACTIONS)
    assert {each["name"] for each in json.loads(said("faults", "--json"))} == set(ACTIONS)


@pytest.mark.parametrize("name", sorted(ACTIONS))
def test_the_example_of_a_fault_is_one(name: str) -> None:
    shown = next(line for line in said("faults", name).splitlines() if line.startswith("mockbroker serve"))
    [*_, option, given] = shlex.split(shown)
    assert (option, given) == ("--fault", example(name))
    [fields] = faults([given])
    assert fields["do"] == name
    fault_of(fields)


def test_a_fault_is_shown_with_its_fields_and_with_those_of_all() -> None:
    text = said("faults", "delay")
    assert re.search(r"^ms +has to be given", text, re.MULTILINE)
    assert re.search(r"^jitter_ms +0 if left out", text, re.MULTILINE)
    assert re.search(r"^nth_on_connection +The number of the request", text, re.MULTILINE)


def test_an_unknown_fault_is_one_line() -> None:
    assert said("faults", "dely", status=2) == "mockbroker faults: no fault 'dely': did you mean 'delay'?\n"


@pytest.mark.parametrize("kafka", ["0.11", "2.3", "4.4"])
def test_the_codes_are_those_that_a_broker_of_the_release_may_answer(kafka: str) -> None:
    [fetch] = json.loads(said("errors", "Fetch", "--kafka", kafka, "--json"))
    api = parse_api("Fetch")
    oldest, newest = advertised(parse(kafka))[api]
    assert fetch["versions"] == [oldest, newest]
    levels = {each["level"] for each in fetch["errors"]}
    found = {
        (version, each["level"], each["code"])
        for each in fetch["errors"]
        for version in range(each["versions"][0], each["versions"][1] + 1)
    }
    everywhere = (ErrorCode.NONE, ErrorCode.UNKNOWN_SERVER_ERROR)
    assert found == {
        (version, level, int(code))
        for version in range(oldest, newest + 1)
        for level in levels
        for code in ErrorCode
        if code not in everywhere and is_legal(api, version, level, code)
    }


def test_versions_are_told_where_a_code_is_not_in_all() -> None:
    text = said("errors", "Fetch", "--kafka", "2.3")
    assert "Fetch v0 to v11\n" in text
    assert "FETCH_SESSION_ID_NOT_FOUND* (v7 to v11)" in text
    assert "INCONSISTENT_TOPIC_ID" not in text
    assert "INCONSISTENT_TOPIC_ID" in said("errors", "Fetch")


def test_without_an_api_all_of_the_release_are_shown() -> None:
    rows = json.loads(said("errors", "--kafka", "0.11", "--json"))
    assert "Fetch" in {each["api"] for each in rows}
    assert "ShareFetch" not in {each["api"] for each in rows}
    assert len(rows) == len(advertised(parse("0.11")))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("ShareFetch", "--kafka", "2.3"), "Kafka 2.3 has no ShareFetch: it is there from 4.1 to 4.4"),
        (("Fetsh",), "did you mean 'Fetch'?"),
        (("--kafka", "1.7"), "no Kafka release '1.7'"),
    ],
)
def test_what_is_not_there_is_one_line(words: tuple[str, ...], says: str) -> None:
    text = said("errors", *words, status=2)
    assert says in text
    assert text.count("\n") == 1


def test_the_doctor_has_a_line_for_each_need(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "go"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    lines = {line[:19].strip(): line for line in said("doctor").splitlines()[3:]}
    assert lines.keys() == {need.what for need in doctor.NEEDS}
    assert re.search(r"^Go +ok ", lines["Go"])
    assert re.search(
        r"^Node.js +missing: node, npm +KafkaJS .* install Node.js; install npm$", lines["Node.js"]
    )
    assert "missing: java 17" in lines["Spark"]


def test_a_missing_module_is_installed_by_an_extra() -> None:
    need = doctor.Need("x", "y", ("no_such_module",), (), "analyze")
    missing, how = doctor.found(need)
    assert missing == ["no_such_module"]
    assert how.startswith("pip install ")
    assert "[analyze]" in how
