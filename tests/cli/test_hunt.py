"""`mockbroker hunt` as a process."""

import json
import os
import shlex
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import MISSING, fields
from pathlib import Path

import pytest

from found.finding import Finding
from mockbroker.clients.drivers.shipped import PROGRAMS
from mockbroker.clients.hunt.writing import read

from ..driving.processes import mockbroker_process, started
from .in_process import mockbroker

WRONG = Path(__file__).parent.parent / "clients" / "hunt" / "wrong.py"
ENVIRONMENT = {**os.environ, "MOCKBROKER_PROGRAMS": str(PROGRAMS / "python"), "COLUMNS": "120"}


def hunt(*options: str) -> "subprocess.CompletedProcess[str]":
    return mockbroker_process("hunt", *options, timeout=240, env=ENVIRONMENT)


def wrong(name: str) -> tuple[str, str]:
    return "--client-command", shlex.join((sys.executable, str(WRONG), name))


@pytest.mark.long
def test_a_finding_is_written_and_can_be_played_again(tmp_path: Path) -> None:
    done = hunt(*wrong("loses"), "--seeds", "4", "--first", "102", "--shrink", "5", "--out", str(tmp_path))
    assert done.returncode == 1, done.stderr
    assert "librdkafka loses: 4 seeds" in done.stdout
    home = tmp_path / "acknowledged-lost-producer"
    assert str(home) in done.stdout
    story = (home / "story.txt").read_text()
    assert "acknowledged-lost: " in story
    assert "is told that record" in story
    finding = (home / "finding.toml").read_text().replace("= DAY OF THE SEARCH", "= 2026-11-23")
    known = tomllib.loads(finding)
    assert known["client"] == "librdkafka"
    assert known["versions"]["has"] == ["loses"]
    assert {each.name for each in fields(Finding) if each.default is MISSING} <= {*known, "name", "real"}
    again = hunt(*wrong("loses"), "--plan", str(home))
    assert again.returncode == 1
    assert again.stdout.count("acknowledged-lost: ") >= 3
    right = hunt(*wrong("right"), "--plan", str(home))
    assert right.returncode == 0, right.stdout
    *_, first, second, third = [line for line in right.stdout.splitlines() if not line.endswith(": left out")]
    assert {first, second, third} == {"nothing is violated"}


@pytest.fixture
def hunting(tmp_path: Path) -> "Iterator[subprocess.Popen[str]]":
    """A hunt without end, as the leader of a process group: what Ctrl-C in a terminal is sent to."""
    options = f"--seeds 1000000 --first 102 --lanes 4 --shrink 1000 --out {tmp_path}".split()
    process = started(
        "hunt",
        *wrong("loses"),
        *options,
        env=ENVIRONMENT,
        start_new_session=True,
        # Whoever runs the tests in the background may have it ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    yield process
    if process.returncode is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def test_what_was_found_outlives_ctrl_c(hunting: "subprocess.Popen[str]", tmp_path: Path) -> None:
    """The first ends the seeds, the second the search for smaller plans; then one is found from the file."""
    assert hunting.stderr is not None
    for awaited in ("seed ", "looking for a smaller plan of acknowledged-lost-producer"):
        while not (line := hunting.stderr.readline()).startswith(awaited):
            assert line
        os.killpg(hunting.pid, signal.SIGINT)
    told, errors = hunting.communicate(timeout=60)
    assert (hunting.returncode, "Traceback" in errors) == (130, False), errors
    home = tmp_path / "acknowledged-lost-producer"
    assert f"{home}\nacknowledged-lost: " in told
    assert "acknowledged-lost: " in (home / "story.txt").read_text()
    again = hunt(*wrong("loses"), "--plan", str(home), "--shrink", "5", "--out", str(tmp_path / "again"))
    assert again.returncode == 1, again.stderr
    assert again.stdout.count("acknowledged-lost: ") >= 4
    smaller = read(tmp_path / "again" / home.name)
    assert smaller.size < read(home).size


@pytest.mark.long
def test_what_was_found_outlives_a_driver_that_can_not_be_started_again(tmp_path: Path) -> None:
    """It can be started four times: for a run that ends it, and for the three that repeat that."""
    starts, out = tmp_path / "starts", tmp_path / "out"
    dies = shlex.join((sys.executable, str(WRONG), "dies"))
    four = f'echo >> "$0"; [ $(wc -l < "$0") -gt 4 ] && exit 3; exec {dies}'
    driver = ("--client-command", shlex.join(("sh", "-c", four, str(starts))))
    done = hunt(*driver, "--seeds", "102-109", "--lanes", "1", "--shrink", "60", "--out", str(out))
    assert (done.returncode, "Traceback" in done.stderr) == (2, False), done.stderr
    assert "ended with status 3" in done.stderr
    assert "looking for a smaller plan" not in done.stderr
    assert "died: " in (out / "died-producer" / "story.txt").read_text()
    assert json.loads((out / "campaign.json").read_text())["seeds"] == [102]


@pytest.mark.long
def test_a_whole_application(tmp_path: Path) -> None:
    program = WRONG.with_name("applications.py")
    known = ("--input", "in", "--output", "out", "--group", "copies", "--settle", "60")
    options = ("--seeds", "1", "--shrink", "0", "--out", str(tmp_path))

    def command(wrong: str) -> tuple[str, str]:
        return "--application", shlex.join((sys.executable, str(program), wrong))

    done = hunt(*command("commits-first"), *known, *options, "--settle", "3")
    assert done.returncode == 1, done.stderr
    home = tmp_path / "not-processed-application"
    assert "is told to end by SIGTERM" in (home / "story.txt").read_text()
    right = hunt(*command("right"), "--plan", str(home), *known)
    assert right.returncode == 0, right.stdout
    client = hunt(*wrong("right"), "--plan", str(home))
    assert client.returncode == 2
    assert "this is a plan for an application: give --application COMMAND" in client.stderr


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--report",), "which file? Give --coverage FILE"),
        (("--report", "--coverage", "/no/such"), "no file /no/such: hunt --coverage /no/such writes it"),
        (("--merge", "/no/such"), "merge into which folder? Give --out FOLDER"),
        (("--client", "java", "--seeds", "9-3"), "--seeds 9-3 are none"),
        (
            ("--client", "java", "--seeds", "few"),
            "--seeds is 'few': give a number, or the first and the last",
        ),
    ],
)
def test_what_is_missing_is_said(options: tuple[str, ...], told: str) -> None:
    done = mockbroker("hunt", *options, environment={"COLUMNS": "120"})
    assert done.exit_code == 2
    assert told in done.stderr


@pytest.mark.long
def test_a_campaign_is_steered_by_what_was_played_before_and_shows_what_is_new(tmp_path: Path) -> None:
    coverage, known = tmp_path / "coverage.json", tmp_path / "known.toml"
    files = ("--coverage", str(coverage), "--known", str(known), "--shrink", "0", "--lanes", "4")
    first = hunt(*wrong("loses"), "--seeds", "102-103", *files, "--out", str(tmp_path / "one"))
    assert "lost or twice" in first.stdout
    assert (tmp_path / "one" / "acknowledged-lost-producer" / "seeds").is_dir()
    assert 'invariant = "acknowledged-lost"' in known.read_text()
    known.write_text(known.read_text().replace('ruling = ""', 'ruling = "on purpose"'))
    second = hunt(*wrong("loses"), "--seeds", "106-107", *files, "--out", str(tmp_path / "two"))
    assert "on purpose" in second.stdout
    assert "is told that record" not in second.stdout
    assert "known: on purpose" in (tmp_path / "two" / "acknowledged-lost-producer" / "story.txt").read_text()
    report = hunt("--report", "--coverage", str(coverage))
    assert report.returncode == 0
    assert "librdkafka loses, Kafka 4.4" in report.stdout
    both = (
        "--merge",
        str(tmp_path / "one"),
        "--merge",
        str(tmp_path / "two"),
        "--out",
        str(tmp_path / "both"),
    )
    merged = hunt(*both)
    assert merged.returncode == 1
    assert "librdkafka loses: 4 seeds" in merged.stdout
    assert (tmp_path / "both" / "coverage.json").exists()
