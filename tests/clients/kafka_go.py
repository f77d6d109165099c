"""segmentio's kafka-go: a program of ours, and the tests that the module carries."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Final

from mockbroker.clients.drivers import building
from mockbroker.clients.drivers.shipped import PROGRAMS

from . import build

MODULE: Final = "github.com/segmentio/kafka-go"
_PORT: Final = "49092"
"""Stands for 9092 in the tests, where it can't be chosen: as many digits as the port of a cluster has."""

TESTS: Final = (
    "TestConn",
    "TestClient(Metadata|Produce|RawProduce|ListOffsets|ListGroups|CreateTopics|ApiVersions|AlterConfigs)",
    "TestClient(JoinGroup|SyncGroup|Heartbeat|LeaveGroup|OffsetCommit|OffsetFetch|OffsetDelete)",
    "TestClient(InitProducerId|AddPartitionsToTxn|AddOffsetsToTxn|EndTxn|TxnOffsetCommit)",
    "TestReader",
    "TestWriter",
)
LEFT_OUT: Final = {
    "TestConn/test_retrieve_controller": "wants a controller of host localhost, on a real broker too",
    "TestConn/the_connection_advertises": "wants port 9092 as a number, on a real broker too",
    "TestConn/test_delete_topics": "asks for a topic before a real broker has it in its metadata",
    "TestConn/writing_and_reading_messages_concurrently": "takes 6 s",
    "TestWriter/writing_a_message_with_SASL": "needs a listener with SASL",
    "TestWriter/test_write_message_with_writer_data": "takes 5 s",
    "TestWriter/writing_a_message_to_a_non-existent_topic": "takes 4 s",
    "TestWriter/writing_messages_to_multiple_topics": "takes 4 s",
    "TestReader/topic_being_recreated": "takes 4 s",
    "TestReader/setting_the_offset_by_TimeStamp": "takes 2 s",
    "TestReaderConsumerGroup": "dereferences nil itself (getOffsets), on a real broker too",
    "TestReaderPartitionWhenConsumerGroupsEnabled": "asks no broker",
    "TestReaderReadCompactedMessage": "waits for a compaction within 20 s, in vain on a real broker too",
    "TestClientProduceAndConsume": "takes 2 s",
    "TestClientListGroups": "lists the groups of all others",
    "TestConn/nettest": "fails on brokers since 3.x: kafka-go leaves it out too (KAFKA_SKIP_NETTEST)",
}
"""Tests by the beginnings of their names, and why they are not run."""


def program() -> Path:
    """Asks one thing after the other on a connection."""
    return (
        build.cached("go", "program", lambda folder: build.go(folder, "build", "-o", "program", "."))
        / "program"
    )


def tests() -> Path:
    """The folder with kafka-go's sources, their data and `kafka.test`."""

    def steps(folder: Path) -> None:
        source = build.go_source(folder, MODULE)
        for file in source.rglob("*.go"):
            text = file.read_text()
            changed = re.sub(r'([:"])9092"', rf'\g<1>{_PORT}"', text)
            if changed != text:
                file.write_text(changed)
        build.go(source, "test", "-c", "-mod=mod", "-vet=off", "-o", "kafka.test", ".")

    return building.cached(PROGRAMS / "go", "kafka-go-tests", steps) / "kafka-go"


def run_tests(port: int, temporary: Path) -> dict[str, str]:
    """Runs the tests against a broker on `port`: PASS or SKIP by name."""
    assert len(str(port)) == len(_PORT)
    home = tests()
    test = temporary / "kafka.test"
    test.write_bytes((home / "kafka.test").read_bytes().replace(_PORT.encode(), str(port).encode()))
    test.chmod(0o755)
    without = "|".join("^" + name.replace("/", "$/^") for name in LEFT_OUT)
    command = [str(test), "-test.v", "-test.parallel=16", "-test.timeout=120s"]
    command += [f"-test.run=^({'|'.join(TESTS)})", f"-test.skip={without}"]
    env = {**os.environ, "KAFKA_VERSION": "4.0.0", "KAFKA_SKIP_NETTEST": "1"}
    done = subprocess.run(command, cwd=home, env=env, capture_output=True, text=True, check=False)
    failed = re.findall(r"--- FAIL: (\S+)", done.stdout)
    assert done.returncode == 0, f"{failed}\n{done.stdout[-8000:]}{done.stderr[-2000:]}"
    return {name: how for how, name in re.findall(r"--- (PASS|FAIL|SKIP): (\S+)", done.stdout)}
