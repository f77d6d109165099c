"""Scenarios in front of a cluster; a mock takes its place."""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from mockbroker import FaultError, MockCluster, MockProxy, ScenarioFailedError, UpstreamError
from mockbroker.scenario.document import ScenarioError

from ..cli.in_process import mockbroker
from ..driving.clients import raw_client
from ..driving.processes import line_of, started

LOST = """\
[cluster]
topics = { orders = 1 }

[[fault]]
name = "lost"
do = "disconnect"
api = "Produce"
when = "after"
times = 1

[[step]]
on = "lost"
do = "faults add"
fault = { do = "delay", name = "slow", ms = 1, api = "Produce" }

[[step]]
on = "lost"
do = "faults remove"
name = "lost"

[[check]]
do = "faults list"
within = "30s"
expect = [{ name = "slow", hits = 1 }]
"""
LATE = '[[step]]\nafter = "1h"\ndo = "faults clear"\n'
ON_METADATA = '[[fault]]\ndo = "delay"\nms = 1\napi = "Metadata"\n'


@pytest.fixture(scope="module")
def upstream() -> Iterator[str]:
    with MockCluster(brokers=1, topics={"orders": 1}) as cluster:
        yield cluster.bootstrap_servers


def write(folder: Path, text: str) -> Path:
    path = folder / "scenario.toml"
    path.write_text(text)
    return path


def produced(servers: str) -> None:
    producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True, "log_level": 0})
    producer.produce("orders", "order")
    assert producer.flush(60) == 0


def asked(proxy: MockProxy) -> None:
    with raw_client(proxy) as client:
        client.call("metadata", 9, {"topics": []})


def said(proxy: MockProxy) -> list[str]:
    return [line.partition(" s  ")[2] or line for line in proxy.lines]


def test_steps_are_done_when_a_fault_has_fired(upstream: str, tmp_path: Path) -> None:
    with MockProxy(upstream, scenario=write(tmp_path, LOST)) as proxy:
        produced(proxy.bootstrap_servers)
    assert said(proxy) == [
        "[cluster] is left aside: the cluster is there already, and so have to be its topics",
        "fault 'lost' fired: disconnect after api=Produce times=1",
        "faults add do=delay name=slow ms=1 api=Produce",
        "faults remove name=lost",
        "fault 'lost' touched 1 request",
        "faults list: as expected",
    ]


def test_the_command_plays_it_until_it_is_ended(upstream: str, tmp_path: Path) -> None:
    given = ("--upstream", upstream, "--port", "0", "--scenario", str(write(tmp_path, LOST)))
    process = started("proxy", *given)
    try:
        produced(line_of(process))
    finally:
        process.send_signal(signal.SIGTERM)
        out, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert out.splitlines()[-2:] == [
        "disconnect after api=Produce times=1: 1 hit",
        "delay before api=Produce: 1 hit",
    ]
    assert errors.splitlines()[-1].endswith(" s  faults list: as expected")


def test_a_second_signal_ends_the_last_checks(upstream: str, tmp_path: Path) -> None:
    path = write(tmp_path, '[[check]]\ndo = "faults list"\nwithin = "1h"\nexpect = [{ name = "other" }]\n')
    process = started("proxy", "--upstream", upstream, "--port", "0", "--scenario", str(path))
    try:
        line_of(process)
        line_of(process)
        while process.poll() is None:
            process.send_signal(signal.SIGTERM)
        assert process.returncode == -signal.SIGTERM
    finally:
        process.kill()
        process.communicate(timeout=60)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (LATE, "faults clear: the proxy ended before this step was due"),
        (ON_METADATA.replace("Metadata", "Fetch"), "fault '1' never fired: delay before api=Fetch: no"),
        ('[[step]]\nafter = "0s"\ndo = "faults remove"\nname = "no"\n', "faults remove name=no: no fault na"),
        ('[[check]]\ndo = "faults list"\nexpect = [{ name = "no" }]\n', "faults list: expected .*, but"),
    ],
    ids=["step", "fault", "failed step", "check"],
)
def test_what_failed_is_raised_at_the_end(upstream: str, tmp_path: Path, text: str, why: str) -> None:
    with (
        pytest.raises(ScenarioFailedError, match=f"^the scenario failed: {why}"),
        MockProxy(upstream, scenario=str(write(tmp_path, text))) as proxy,
    ):
        asked(proxy)
    assert any(f"FAILED {line[:20]}" in each for each in proxy.lines for line in [why])


def test_what_the_block_raised_goes_before_it(upstream: str, tmp_path: Path) -> None:
    with pytest.raises(KeyError, match="mine"), MockProxy(upstream, scenario=write(tmp_path, LATE)):
        raise KeyError("mine")


def test_the_command_ends_with_3_if_it_failed(upstream: str, tmp_path: Path) -> None:
    path = write(tmp_path, LATE)
    process = started("proxy", "--upstream", upstream, "--port", "0", "--scenario", str(path), "--quiet")
    line_of(process)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 3
    assert "FAILED faults clear: the proxy ended before this step was due" in errors


def test_numbers_of_its_faults_are_not_taken_by_others(upstream: str, tmp_path: Path) -> None:
    others: Any = [{"do": "delay", "ms": 2, "api": "Metadata"}]
    path = write(tmp_path, ON_METADATA)
    with MockProxy(upstream, scenario=path, faults=others) as proxy:
        asked(proxy)
        assert [(str(each), each.hits) for each in proxy.faults] == [("delay before api=Metadata", 1)] * 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            f'{ON_METADATA}{LATE}[[step]]\non = "1"\ndo = "brokers stop"\nbroker = 1\n',
            r":10: \[\[step\]\] 2: brokers stop needs the cluster itself, .* own tools, .*: faults add, ",
        ),
        (
            '[[check]]\ndo = "topics list"\nexpect = []\n',
            r"scenario.toml:2: \[\[check\]\] 1: topics list needs the cluster itself",
        ),
        (
            '[[fault]]\ndo = "move-leader"\napi = "Produce"\n',
            r"scenario.toml:2: \[\[fault\]\] 1: move-leader is done to the cluster itself",
        ),
        (
            '[[step]]\nafter = "1s"\ndo = "faults add"\nfault = { do = "delay", ms = 1, user = "alice" }\n',
            r"scenario.toml:4: \[\[step\]\] 1: a proxy does not know the user of a request",
        ),
        (
            '[[step]]\nafter = "1s"\ndo = "fautls clear"\n',
            r"scenario.toml:3: \[\[step\]\] 1: no operation 'fautls clear': did you mean 'faults clear'",
        ),
        (
            '[cluster]\npolicies = { election = "unclean" }\n',
            r"scenario.toml:2: \[cluster\]: policies: the cluster decides for itself: .*--policy",
        ),
        ("[cluster]\nfixed = true\n", r"scenario.toml:2: \[cluster\]: fixed: the cluster decides"),
    ],
    ids=["step", "check", "fault", "fault of a step", "misspelt", "policies", "fixed"],
)
def test_what_a_proxy_can_not_play_is_refused_with_its_line(tmp_path: Path, text: str, why: str) -> None:
    # Nothing is asked of the cluster before.
    with pytest.raises(ScenarioError, match=why):
        MockProxy("127.0.0.1:1", scenario=write(tmp_path, text))


def test_a_fault_that_this_cluster_has_not_is_refused_at_the_start(upstream: str, tmp_path: Path) -> None:
    path = write(tmp_path, f"{ON_METADATA}broker = 7\n")
    with pytest.raises(FaultError, match="7"), MockProxy(upstream, scenario=path):
        pytest.fail("it started")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("nowhere.toml", "can't read nowhere.toml: No such file"),
        ("scenario.toml", "scenario.toml:3: [[step]] 1: brokers stop needs the cluster itself"),
    ],
    ids=["no file", "a step for mocks"],
)
def test_the_command_says_what_is_wrong(
    upstream: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, '[[step]]\nafter = "1s"\ndo = "brokers stop"\nbroker = 1\n')
    done = mockbroker("proxy", "--upstream", upstream, "--port", "0", "--scenario", name)
    assert done.exit_code == 2
    assert done.stderr.startswith(f"mockbroker proxy: {why}"), done.stderr
    assert not done.stdout


def test_it_goes_on_when_the_cluster_is_gone(tmp_path: Path) -> None:
    path = write(tmp_path, LOST)
    with MockCluster(brokers=1, topics={"orders": 1}) as cluster:
        upstream = cluster.bootstrap_servers
        proxy = MockProxy(upstream, scenario=path)
        proxy.__enter__()
        produced(proxy.bootstrap_servers)
    with pytest.raises(OSError, match=r"."), raw_client(proxy) as client:
        client.call("metadata", 9, {"topics": []})
    proxy.__exit__(None, None, None)
    assert said(proxy)[-1] == "faults list: as expected"
    assert any("can't be reached" in line for line in proxy.lines)
    with pytest.raises(UpstreamError), MockProxy(upstream, scenario=path):
        pytest.fail("it started")
