"""kafka-go, whose client id is null unless it is given one: a program of ours, and its own tests."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from mockbroker import MockCluster

from . import kafka_go

pytestmark = pytest.mark.needs("go")


@pytest.mark.usefixtures("without_hints")
def test_producer_group_and_requests_on_one_connection(bootstrap: str, name: str) -> None:
    command = [str(kafka_go.program()), bootstrap.split(",")[0], name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_its_own_tests(tmp_path: Path) -> None:
    with MockCluster(brokers=1) as cluster:
        found = kafka_go.run_tests(int(cluster.bootstrap_servers.rpartition(":")[2]), tmp_path)
    passed = [name for name, how in found.items() if how == "PASS"]
    for test in ("TestConn/", "TestClientProduce", "TestWriter/", "TestReader/"):
        assert any(name.startswith(test) for name in passed), test
    assert len(passed) > 80
