"""`mockbroker run` as a process."""

import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from mockbroker.trace.files import read_json_lines

from ..driving.processes import command, line_of, mockbroker_process, started

PRODUCE = """
import os
from confluent_kafka import Producer
producer = Producer({"bootstrap.servers": os.environ["BOOTSTRAP_SERVERS"], "retry.backoff.ms": 10})
producer.produce("orders", b"x", partition=0)
print("left", producer.flush(60))
"""
SCENARIO = """
[cluster]
topics = { orders = 1 }
config = { "default.replication.factor" = 3, "replica.lag.time.max.ms" = 200 }

[[fault]]
name = "lost"
do = "disconnect"
api = "Produce"
when = "after"
times = 1

[[step]]
on = "lost"
do = "followers pause"
topic = "orders"
partition = 0
broker = 3

[[check]]
do = "partitions replicas"
topic = "orders"
partition = 0
expect = [{ broker = 1, log_end_offset = 2 }, { broker = 3, state = "paused" }]
"""


def run(folder: Path, text: str, program: Sequence[str], *options: str) -> subprocess.CompletedProcess[str]:
    path = folder / "scenario.toml"
    path.write_text(text)
    return mockbroker_process("run", *options, str(path), "--", *program)


def test_a_real_client_lives_through_a_scenario(tmp_path: Path) -> None:
    done = run(tmp_path, SCENARIO, [sys.executable, "-c", PRODUCE])
    assert done.returncode == 0, done.stderr
    assert done.stdout == "left 0\n"
    for told in (
        "fault 'lost' fired: disconnect after api=Produce times=1",
        "followers pause topic=orders partition=0 broker=3",
        "partitions replicas topic=orders partition=0: as expected",
    ):
        assert told in done.stderr


def test_the_command_finds_the_control_api(tmp_path: Path) -> None:
    text = '[[fault]]\nname = "f"\ndo = "silence"\ntopic = "t"\noptional = true\n'
    done = run(tmp_path, text, command("ctl", "faults", "list"))
    assert done.returncode == 0, done.stderr
    assert "silence before topic=t" in done.stdout


def test_the_status_is_the_commands_own(tmp_path: Path) -> None:
    assert run(tmp_path, SCENARIO, [sys.executable, "-c", "raise SystemExit(7)"]).returncode == 7
    kill = f"import os; os.kill(os.getpid(), {int(signal.SIGKILL)})"
    assert run(tmp_path, "", [sys.executable, "-c", kill]).returncode == 128 + signal.SIGKILL


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[fault]]\nname = "f"\ndo = "silence"\ntopic = "t"', "fault 'f' never fired: silence before"),
        (
            '[[step]]\nafter = "1h"\ndo = "brokers stop"\nbroker = 1',
            "the command ended before this step was due",
        ),
        ('[[step]]\nafter = "0s"\ndo = "brokers stop"\nbroker = 9', "no broker 9: choose one of 1, 2, 3"),
        ('[[check]]\ndo = "brokers list"\nexpect = [{ id = 4 }]', "expected [{'id': 4}], but it is"),
    ],
)
def test_a_scenario_that_did_not_come_true_fails(tmp_path: Path, text: str, message: str) -> None:
    done = run(tmp_path, text, command("policies"))
    assert done.returncode == 3, done.stderr
    assert "FAILED" in done.stderr
    assert message in done.stderr


def test_a_signal_is_for_the_command(tmp_path: Path) -> None:
    path = tmp_path / "scenario.toml"
    path.write_text("")
    waiting = [sys.executable, "-c", "import signal; print('up', flush=True); signal.pause()"]
    with started("run", str(path), "--", *waiting) as process:
        assert line_of(process) == "up"
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert f"the command ended with status {128 + signal.SIGTERM}" in told


@pytest.mark.parametrize("key", ["fault", "step"])
def test_what_is_optional_may_not_happen(tmp_path: Path, key: str) -> None:
    text = {
        "fault": '[[fault]]\nname = "f"\ndo = "silence"\noptional = true',
        "step": '[[step]]\nafter = "1h"\ndo = "brokers list"\noptional = true',
    }[key]
    assert run(tmp_path, text, [sys.executable, "-c", ""]).returncode == 0


@pytest.mark.parametrize(
    ("text", "program", "message"),
    [
        ("[cluster]\nbroker = 1", ["true"], ":2: [cluster]: no key 'broker': did you mean 'brokers'?"),
        ("", ["no-such-command"], "no command 'no-such-command'"),
    ],
)
def test_what_can_not_be_is_one_line(tmp_path: Path, text: str, program: list[str], message: str) -> None:
    done = run(tmp_path, text, program)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.startswith("mockbroker run: ")
    assert len(done.stderr.splitlines()) == 1


ASK = """
import os, sys
from mockbroker.rig.client import Client
host, _, port = os.environ["BOOTSTRAP_SERVERS"].split(",")[0].rpartition(":")
with Client(host, int(port)) as client:
    client.call("metadata", 8, {"topics": [{"name": "orders"}], "allow_auto_topic_creation": True})
sys.exit(int(sys.argv[1]))
"""


@pytest.mark.parametrize("status", [0, 1])
def test_a_command_that_fails_is_told_what_may_be_the_reason(tmp_path: Path, status: int) -> None:
    config = '[cluster]\nconfig = { "auto.create.topics.enable" = false }\n'
    done = run(tmp_path, config, [sys.executable, "-c", ASK, str(status)])
    assert done.returncode == status, done.stderr
    why = "the topic 'orders' was not created: auto.create.topics.enable is false"
    assert (why in done.stderr) == bool(status)


def test_a_behaviour_given_with_the_command_takes_precedence(tmp_path: Path) -> None:
    text = """
[cluster.policies]
compaction = "dead"
undefined-epoch = "log-end-offset"

[[check]]
do = "policies list"
expect = [{ name = "compaction", answer = "runs" }, { name = "undefined-epoch", answer = "log-end-offset" }]
"""
    done = run(tmp_path, text, ["true"], "--policy", "compaction=runs")
    assert done.returncode == 0, done.stderr
    done = run(tmp_path, text, ["true"], "--policy", "compaction=walks")
    assert done.returncode == 2
    assert "compaction" in done.stderr


def test_what_happened_is_written_to_a_file(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    (tmp_path / "plain.toml").write_text("[cluster]\ntopics = { orders = 1 }\n")
    given = ("run", "--trace", str(trace), str(tmp_path / "plain.toml"), "--", sys.executable, "-c", PRODUCE)
    done = mockbroker_process(*given)
    assert done.returncode == 0, done.stderr
    kinds = [event.kind for event in read_json_lines(trace)]
    assert kinds[0] == "keyframe"
    assert {"request", "answer", "replica", "high-watermark"} <= set(kinds)
    again = mockbroker_process(*given)
    assert again.returncode == 2
    assert "exists: choose another name" in again.stderr
