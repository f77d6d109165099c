"""From a recording to a test that fails."""

from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer

from mockbroker import MockCluster
from mockbroker.cli.recording import of_capture

from ..cli.in_process import mockbroker

LIMIT_S = 60.0
QUIET = {"log_level": 0}


def recorded(capture: Path) -> Path:
    """What was said to a cluster, once it has ended."""
    path = capture.with_suffix(".recording")
    of_capture(capture, path, values=False)
    return path


@pytest.mark.long
def test_a_refused_record_becomes_a_pytest(tmp_path: Path) -> None:
    capture, out = tmp_path / "wire.pcapng", tmp_path / "out"
    config = {"message.max.bytes": "2000"}
    with MockCluster(brokers=1, topics={"orders": 1}, capture=capture, config=config) as cluster:
        producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, **QUIET})
        producer.produce("orders", b"x" * 5_000, partition=0)
        assert producer.flush(LIMIT_S) == 0
    done = mockbroker("reproduce", str(recorded(capture)), "--out", str(out))
    assert done.exit_code == 0, done.output
    assert "test_incident.py: fails with max.message.bytes below the size of a record" in done.stdout
    assert {each.name for each in out.iterdir()} == {"report", "test_incident.py"}


def test_what_a_recording_does_not_tell_is_said(tmp_path: Path) -> None:
    """Where the log began when the group was set back is not asked by anybody."""
    capture, out = tmp_path / "wire.pcapng", tmp_path / "out"
    with MockCluster(brokers=1, topics={"orders": 1}, capture=capture) as cluster:
        servers = {"bootstrap.servers": cluster.bootstrap_servers, **QUIET}
        producer = Producer(servers)
        for _ in range(10):
            producer.produce("orders", b"order", partition=0)
        assert producer.flush(LIMIT_S) == 0
        read(servers, 4)
        cluster.delete_records("orders", 0, 8)
        read(servers, 2)
    done = mockbroker("reproduce", str(recorded(capture)), "--out", str(out))
    assert done.exit_code == 2
    assert "reset-to-earliest can't be reproduced, because it is only possible: the files don't tell" in (
        done.stderr
    )


def read(servers: dict[str, object], count: int) -> None:
    """A member reads so many records, commits, and leaves."""
    consumer = Consumer(
        {**servers, "group.id": "g", "auto.offset.reset": "earliest", "enable.auto.commit": False}
    )
    consumer.subscribe(["orders"])
    for _ in range(count):
        message = consumer.poll(LIMIT_S)
        assert message is not None
        assert message.error() is None
    consumer.commit(asynchronous=False)
    consumer.close()
