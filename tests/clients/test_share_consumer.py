"""Share consumers of Java, franz-go and krafka read from a mock cluster as from a real one (KIP-932)."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Callable
from contextlib import closing

import pytest

from mockbroker import MockCluster
from mockbroker.clients.drivers import building
from mockbroker.clients.drivers.shipped import PROGRAMS
from mockbroker.names import ReleaseName
from mockbroker.rig import requests
from mockbroker.rig.client import Client

from .. import needs
from ..turns import one_in
from . import build, franz_go, java
from .scenario import TIMEOUT

GROUPS = 32
"""The type of resource."""
GROUP = "jobs"
QUICK = {
    "group.share.min.heartbeat.interval.ms": "100",
    "group.share.heartbeat.interval.ms": "100",
    "offsets.topic.num.partitions": "1",
    "share.coordinator.state.topic.num.partitions": "1",
}
BUILDS = pytest.mark.timeout(900)
VALUES = [f"{kind} {number}" for number in range(5) for kind in ("good", "again", "bad", "slow")]
TOLD = {
    "good": [("1", "accept")],
    "again": [("1", "release"), ("2", "release"), ("3", "accept")],
    "bad": [("1", "reject")],
    "slow": [("1", "renew"), ("1", "accept")],
}


def java_reads(release: str) -> list[str]:
    return java.command(java.class_path(release, build.HERE / "java-share"), "Share")


def franz_go_reads(_: str) -> list[str]:
    program = build.HERE / "go-share" / "main.go"
    return [str(building.go_file(PROGRAMS / "go", program, "github.com/twmb/franz-go", None))]


def krafka_reads(_: str) -> list[str]:
    program = build.HERE / "rust-share" / "main.rs"
    return [str(building.rust_file(PROGRAMS / "krafka", program, "krafka", None))]


@pytest.mark.parametrize(
    ("reads", "client", "kafka"),
    [
        pytest.param(java_reads, "4.4.0", "4.4", marks=pytest.mark.needs(*needs.JAVA)),
        pytest.param(java_reads, "4.2.0", "4.2", marks=pytest.mark.needs(*needs.JAVA)),
        *(
            pytest.param(reads, "", kafka, marks=[*marks, pytest.mark.long, BUILDS])
            for reads, marks in (
                (franz_go_reads, [pytest.mark.needs("go")]),
                (krafka_reads, [pytest.mark.needs("cargo"), needs.BUILT_FOR_MINUTES]),
            )
            for kafka in ("4.4", "4.2")
        ),
    ],
)
def test_records_are_delivered_until_they_are_done(
    reads: Callable[[str], list[str]], client: str, kafka: ReleaseName
) -> None:
    config = {**QUICK, "group.share.assignment.interval.ms": "0"} if kafka == "4.4" else QUICK
    with MockCluster(kafka=kafka, topics={"orders": 2}, config=config) as cluster:
        host, _, port = cluster.bootstrap_servers.split(",")[0].rpartition(":")
        asked = requests.configure(GROUPS, GROUP, {"share.auto.offset.reset": "earliest"})
        with closing(Client(host, int(port))) as admin:
            admin.call("incremental_alter_configs", 1, asked)
        for value in VALUES:
            cluster.produce("orders", value)
        words = cluster.bootstrap_servers, GROUP, "orders", str(len(VALUES))
        done = subprocess.run(
            [*reads(client), *words], capture_output=True, text=True, timeout=TIMEOUT, check=False
        )
        assert done.returncode == 0, done.stderr
        told: dict[str, list[tuple[str, str]]] = {}
        for line in done.stdout.splitlines():
            value, times, said = line.split("\t")
            told.setdefault(value, []).append((times, said))
        assert told == {value: TOLD[value.split()[0]] for value in VALUES}
        assert Counter(each.state for each in cluster.groups().values()) == {"Empty": 1}


@one_in(3, 2)
@pytest.mark.needs("go")
@pytest.mark.long
@BUILDS
@pytest.mark.parametrize("kafka", ["4.4", "4.2"])
def test_franz_go_passes_its_own_tests(kafka: ReleaseName) -> None:
    with MockCluster(kafka=kafka) as cluster:
        found = franz_go.run_tests(cluster.bootstrap_servers)
    assert found == dict.fromkeys(franz_go.TESTS, "PASS")
