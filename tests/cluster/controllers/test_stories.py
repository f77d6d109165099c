"""Our controller tells the stories as those of real clusters did (`make.py`)."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from mockbroker.rig.client import Client

from ...driving.cluster import configured
from ...driving.network import InMemoryNetwork
from .stage import BROKERS, Stage
from .stories import STORIES

RECORDED = {
    file.stem: json.loads(file.read_text())
    for file in sorted(Path(__file__).with_name("recorded").glob("*.json"))
}
SESSION_MS = 3000
CONFIG = {
    "auto.leader.rebalance.enable": "false",
    "broker.session.timeout.ms": SESSION_MS,
    "zookeeper.session.timeout.ms": SESSION_MS,
}


DIFFERENT = {
    ("2.8.2", "under_way", "produced: after"): "min.insync.replicas asked for more replicas than there are",
}


class Mocks:
    """Four mock brokers."""

    def __init__(self, release: str) -> None:
        self.zookeeper = release.startswith("2.")
        self.cluster = configured(release.rpartition(".")[0], len(BROKERS), None, CONFIG, None)
        self.network = InMemoryNetwork(self.cluster)

    def client(self, broker: int) -> Client:
        found = self.cluster.brokers[broker]
        return Client(found.host, found.port, network=self.network)

    def stop(self, broker: int) -> None:
        self.cluster.processes.stop(broker)

    def kill(self, broker: int) -> None:
        self.cluster.processes.kill(broker)
        self.network.sleep(SESSION_MS / 1000)

    def start(self, broker: int) -> None:
        self.cluster.processes.start(broker)

    def hold(self, broker: int) -> None:
        self.cluster.network.cut_off(broker, list(self.cluster.brokers), from_controller=False)

    def let_go(self, broker: int) -> None:
        self.cluster.network.rejoin(broker)

    def settle(self, look: Callable[[int], Any], online: Sequence[int]) -> Any:
        self.network.sleep(0.1)
        first, *others = [look(broker) for broker in online]
        assert all(each == first for each in others), "brokers disagree"
        return first


@pytest.mark.parametrize(("release", "story"), [(each, name) for each in RECORDED for name in RECORDED[each]])
def test_controllers_do_the_same(release: str, story: str) -> None:
    (tell,) = (each for each in STORIES if each.__name__ == story)
    told = [[label, json.loads(json.dumps(answer))] for label, answer in tell(Stage(Mocks(release)))]
    for (label, answer), real in zip(told, RECORDED[release][story], strict=True):
        same = [label, answer] == real
        assert same is ((release, story, label) not in DIFFERENT), [label, answer]
