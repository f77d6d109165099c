"""Kafka Connect: lines go from one file to another, by way of a topic, while workers come and go."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mockbroker import MockCluster
from mockbroker.rig.waiting import wait_for

from .. import needs
from ..turns import one_in
from .connect import GROUP, Worker
from .scenario import TIMEOUT

FILE = "org.apache.kafka.connect.file.FileStream"
TOPIC = "lines"
QUICK = {"group.initial.rebalance.delay.ms": "0", "offsets.topic.num.partitions": "1"}
LINES = 20


class Files:
    """Lines that were written, and those that arrived."""

    def __init__(self, folder: Path) -> None:
        self.source, self.sink = folder / "source.txt", folder / "sink.txt"
        self.source.touch()
        self.sink.touch()
        self.written: list[str] = []

    def write(self) -> None:
        lines = [f"line {len(self.written) + number}" for number in range(LINES)]
        self.written += lines
        with self.source.open("a") as file:
            file.writelines(f"{line}\n" for line in lines)

    def arrived(self) -> list[str]:
        return self.sink.read_text().splitlines()

    def await_all(self) -> None:
        wait_for("lines", lambda: len(self.arrived()) >= len(self.written), TIMEOUT)
        assert self.arrived() == self.written


class Workers:
    def __init__(self, bootstrap: str, folder: Path) -> None:
        self._bootstrap, self._folder = bootstrap, folder
        self.config: dict[str, str] = {}
        self._started: list[Worker] = []

    def start(self) -> Worker:
        folder = self._folder / f"worker-{len(self._started)}"
        folder.mkdir()
        worker = Worker(self._bootstrap, folder, **self.config)
        self._started.append(worker)
        return worker

    def run_connectors(self, files: Files) -> Worker:
        """The first worker, with two connectors."""
        worker = self.start()
        source = {"connector.class": f"{FILE}SourceConnector", "file": str(files.source), "topic": TOPIC}
        sink = {"connector.class": f"{FILE}SinkConnector", "file": str(files.sink), "topics": TOPIC}
        worker.connect("source", source)
        worker.connect("sink", sink)
        return worker

    def close(self) -> None:
        for worker in self._started:
            worker.kill()


@pytest.fixture
def cluster() -> Iterator[MockCluster]:
    with MockCluster(kafka="4.3", config=QUICK) as cluster:
        yield cluster


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


@pytest.fixture
@needs.brings(*needs.JAVA)
def workers(cluster: MockCluster, tmp_path: Path) -> Iterator[Workers]:
    workers = Workers(cluster.bootstrap_servers, tmp_path)
    yield workers
    workers.close()


@one_in(3)
def test_work_moves_between_workers(cluster: MockCluster, files: Files, workers: Workers) -> None:
    first = workers.run_connectors(files)
    files.write()
    files.await_all()
    for name in ("configs", "offsets", "status"):
        assert cluster.topic(f"connect-{name}").configs["cleanup.policy"] == "compact"
    group = cluster.group(GROUP)
    assert (group.protocol_type, group.state, len(group.members)) == ("connect", "Stable", 1)
    second = workers.start()
    wait_for("work for both", lambda: _at(first) == {first.id, second.id}, TIMEOUT)
    assert len(cluster.group(GROUP).members) == 2
    files.write()
    files.await_all()
    first.stop()
    wait_for("takeover", lambda: _at(second) == {second.id}, TIMEOUT)
    files.write()
    files.await_all()
    second.stop()


@one_in(3, 1)
def test_a_worker_goes_on_where_another_stopped(cluster: MockCluster, files: Files, workers: Workers) -> None:
    """Its source writes lines and its offsets in one transaction."""
    workers.config = {"exactly.once.source.support": "enabled"}
    worker = workers.run_connectors(files)
    files.write()
    files.await_all()
    worker.stop()
    files.write()
    worker = workers.start()
    files.await_all()
    worker.stop()
    assert cluster.transaction(f"{GROUP}-source-0").state == "CompleteCommit"


def _at(worker: Worker) -> set[str]:
    """Where the connectors run; empty while one does not."""
    found = [worker.runs_at(name) for name in ("source", "sink")]
    return set().union(*found) if all(found) else set()
