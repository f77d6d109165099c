"""`mockbroker ctl`, once as a process."""

import json
import sys
from collections.abc import Iterator
from typing import Final

import pytest
from confluent_kafka import ShareConsumer
from typer.testing import Result

from mockbroker import MockCluster
from tests.cli.in_process import mockbroker

from ..driving.processes import finished, mockbroker_process
from ..driving.share_reader import QUICK


@pytest.fixture
def cluster() -> Iterator[MockCluster]:
    config = {"default.replication.factor": "3"}
    with MockCluster(control=True, topics={"orders": 1}, config=config) as started:
        yield started


def ctl(*arguments: str, url: str | None) -> Result:
    return mockbroker("ctl", *arguments, environment={"MOCKBROKER_CONTROL": url})


def test_operations_are_commands(cluster: MockCluster) -> None:
    url = cluster.control_url
    assert "stopped" in mockbroker_process("ctl", "--url", url, "brokers", "stop", "1").stdout
    moved = json.loads(ctl("--json", "partitions", "move-leader", "orders", "0", "--to", "3", url=url).stdout)
    assert moved["leader"] == 3
    words = "--json brokers cut-off 2 --from 1 --from controller"
    cut = json.loads(ctl(*words.split(), url=url).stdout)
    assert (cut["cut_off"], cut["unreachable"]) == (True, [1])
    assert "paused" in ctl("followers", "pause", "orders", "0", "2", url=url).stdout


def test_several_policies_are_set_as_serve_takes_them(cluster: MockCluster) -> None:
    name: Final = "undefined-epoch"
    words = f"policies set {name}@topic:orders=log-end-offset {name}@broker:2=log-end-offset".split()
    done = ctl(*words, url=cluster.control_url)
    assert done.exit_code == 0, done.stderr
    assert cluster.policies.answer(name, topic="orders") == "log-end-offset"
    assert cluster.policies.answer(name, broker=2) == "log-end-offset"
    assert cluster.policies.answer(name) == "undefined"


def test_a_fault_is_added_by_its_fields(cluster: MockCluster) -> None:
    disconnect = "disconnect api=Produce api=Fetch topic=orders when=after times=1"
    added = ctl("--json", "faults", "add", *disconnect.split(), "--name", "lost", url=cluster.control_url)
    fault = json.loads(added.stdout)
    assert fault["fault"] == "disconnect after api=Produce,Fetch topic=orders times=1"
    waited = ctl("faults", "wait", "lost", "--timeout", "0.01", url=cluster.control_url)
    assert (waited.exit_code, waited.stderr.count("\n")) == (1, 1)
    assert "touched 0 requests" in waited.stderr


def test_what_a_share_group_has_in_flight() -> None:
    with MockCluster(brokers=1, config=QUICK, topics={"jobs": 1}, control=True) as cluster:
        cluster.configure_group("workers", {"share.auto.offset.reset": "earliest"})
        for number in range(3):
            cluster.produce("jobs", f"job {number}")
        own = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "workers"}
        member = ShareConsumer({**own, "share.acknowledgement.mode": "explicit"})
        member.subscribe(["jobs"])
        while not (messages := list(member.poll(1))):
            pass
        member.acknowledge(messages[1])
        member.commit_sync(10)
        done = ctl("groups", "in-flight", "workers", url=cluster.control_url)
        assert done.exit_code == 0, (done.stderr, done.exception)
        titles, *rows = done.stdout.splitlines()
        assert titles.split()[:5] == ["partition", "start_offset", "high_watermark", "offsets", "state"]
        told = [row.split() for row in rows]
        assert [row[:6] for row in told] == [
            ["jobs-0", "0", "3", "0", "acquired", "1"],
            ["jobs-0", "0", "3", "1", "acknowledged", "1"],
            ["jobs-0", "0", "3", "2", "acquired", "1"],
        ]
        assert told[1][6:] == ["-", "-"]
        assert ":" in told[0][7]
        member.close()


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["brokers", "stop", "9"], 1, "no broker 9: choose one of 1, 2, 3"),
        (["policies", "set", "undefined-epochs=undefined"], 1, "did you mean 'undefined-epoch'"),
        (["policies", "set", "undefined-epoch"], 2, "write it as NAME=ANSWER"),
        (["faults", "add", "disconnect", "topc=orders"], 1, "did you mean 'topic'"),
        (["faults", "add", "disconnect", "topic"], 2, "write it as FIELD=VALUE"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_an_error_is_one_line(cluster: MockCluster, arguments: list[str], status: int, message: str) -> None:
    done = ctl(*arguments, url=cluster.control_url)
    assert done.exit_code == status
    assert message in done.stderr
    assert done.stderr.startswith("mockbroker ctl: ")
    assert len(done.stderr.splitlines()) == 1


def test_an_address_where_nobody_is_gets_one_line() -> None:
    with MockCluster(control=True) as cluster:
        url = cluster.control_url
    for where, message in (
        (url, "no control API at"),
        ("ftp://x", "not a control address"),
        (None, "which cluster?"),
    ):
        done = ctl("brokers", "list", url=where)
        assert done.exit_code == 2
        assert done.stderr.startswith("mockbroker ctl: ")
        assert message in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_nothing_is_imported_that_no_command_needs_to_start() -> None:
    program = "import sys, mockbroker.cli.app, mockbroker.cli.ctl; print(*sys.modules)"
    loaded = set(finished([sys.executable, "-c", program], check=True).stdout.split())
    assert "mockbroker.control.table" in loaded
    unwanted = {"construct", "kio.schema", "starlette", "mockbroker.conformance"}
    assert not loaded & unwanted
