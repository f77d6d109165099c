"""A broker that is started again knows of producers what real ones knew (`make.py`)."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from mockbroker.rig.client import Client

from ...driving.cluster import configured
from ...driving.network import InMemoryNetwork
from .stage import tell
from .stories import STORIES

RECORDED = {
    file.stem: json.loads(file.read_text())
    for file in sorted(Path(__file__).with_name("recorded").glob("*.json"))
}
SESSION_MS = 3000
CHECK_MS = 500
CONFIG = {
    "transaction.partition.verification.enable": "false",
    "log.initial.task.delay.ms": CHECK_MS,
    "log.retention.check.interval.ms": CHECK_MS,
    "log.cleaner.enable": "false",
    "broker.session.timeout.ms": SESSION_MS,
    "zookeeper.session.timeout.ms": SESSION_MS,
}
LIMIT_S = 60


class Mock:
    """The one broker of a cluster."""

    def __init__(self, release: str) -> None:
        self.cluster = configured(release.rpartition(".")[0], 1, None, CONFIG)
        self.network = InMemoryNetwork(self.cluster)

    def client(self) -> Client:
        (broker,) = self.cluster.brokers.values()
        return Client(broker.host, broker.port, network=self.network)

    def now_ms(self) -> int:
        return self.cluster.now_ms

    def again(self, how: str) -> None:
        self.network.sleep(2 * CHECK_MS / 1000)
        if how == "kill":
            self.cluster.processes.kill(1)
            self.network.sleep(SESSION_MS / 1000)
        else:
            self.cluster.processes.stop(1)
        self.cluster.processes.start(1)

    def until(self, done: Callable[[], bool], what: str) -> None:
        assert self.network.wait(done, LIMIT_S), what


@pytest.mark.parametrize(
    ("release", "how", "story"),
    [(release, how, story) for release, ways in RECORDED.items() for how in ways for story in ways[how]],
)
def test_the_same_producers_are_known(release: str, how: str, story: str) -> None:
    told = tell(Mock(release), how, {story: STORIES[story]})[story]
    assert json.loads(json.dumps(told)) == RECORDED[release][how][story]
