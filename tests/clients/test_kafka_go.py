"""kafka-go, whose client id is null unless it is given one: one connection, a group, its own tests."""

from __future__ import annotations

import base64
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from mockbroker import MockCluster
from mockbroker.clients.drivers.in_thread import Client as Driven

from ..turns import one_in
from . import kafka_go
from .driven import LIMIT_MS, Client

RECORDS = 60
pytestmark = pytest.mark.needs("go")


@pytest.mark.usefixtures("without_hints")
def test_requests_on_one_connection(bootstrap: str, name: str) -> None:
    command = [str(kafka_go.program()), bootstrap.split(",")[0], name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.usefixtures("without_hints")
def test_codecs_and_group_without_a_client_id(
    clients: Callable[..., Driven], bootstrap: str, name: str
) -> None:
    """A writer with each compression; two readers in turn in one group, the second from where the first
    committed."""
    client = Client(clients("kafka-go"), bootstrap, {"client.id": None})
    Client(clients("confluent-kafka"), bootstrap).create(name, partitions=2)
    for number, codec in enumerate(("none", "gzip", "snappy", "lz4", "zstd")):
        producer = client.open("producer", {"acks": "all", "linger.ms": 10, "compression.type": codec})
        records = [
            {"topic": name, "partition": None, "key": None, "value": b"%d" % (each + number)}
            for each in range(0, RECORDS, 5)
        ]
        client.driven.produce(producer, records, LIMIT_MS)
        client.close(producer)
    seen: list[int] = []
    for most in (RECORDS // 2, RECORDS):
        config = {"group.id": name, "auto.offset.reset": "earliest", "fetch.max.wait.ms": 100}
        consumer = client.open("consumer", {**config, "enable.auto.commit": False})
        client.driven.call("subscribe", consumer, topics=[name])
        while len(seen) < most:
            polled = client.driven.call("poll", consumer, 300)
            assert not polled.get("errors"), polled["errors"]
            seen += [int(base64.b64decode(each["value"])) for each in polled["records"]]
        client.driven.call("commit", consumer, LIMIT_MS)
        client.close(consumer)
    assert sorted(seen) == list(range(RECORDS))


@one_in(3, 2)
def test_its_own_tests(tmp_path: Path) -> None:
    with MockCluster(brokers=1) as cluster:
        found = kafka_go.run_tests(int(cluster.bootstrap_servers.rpartition(":")[2]), tmp_path)
    passed = [name for name, how in found.items() if how == "PASS"]
    for test in ("TestConn/", "TestClientProduce", "TestWriter/", "TestReader/"):
        assert any(name.startswith(test) for name in passed), test
    assert len(passed) > 80
