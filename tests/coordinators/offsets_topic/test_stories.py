"""Our broker answers, and writes to the offsets topic, as real brokers did in the stories (`make.py`)."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from mockbroker.rig.client import Client

from ...driving.cluster import configured
from ...driving.network import InMemoryNetwork
from .make import CONFIG
from .stage import Stage
from .stories import CONFIGS, STORIES

RECORDED = {
    file.stem: json.loads(file.read_text())
    for file in sorted(Path(__file__).with_name("recorded").glob("*.json"))
}
LIMIT_S = 300
DIFFERENT = {
    (
        "simple_commits",
        "twice",
    ): "4.0 and later write a partition twice that a request names twice",
}


class Mock:
    """One mock broker, whose time goes by while it is waited for."""

    def __init__(self, release: str, story: str) -> None:
        config = {**CONFIG, **CONFIGS.get(story, {})}
        self.cluster = configured(".".join(release.split(".")[:2]), 1, None, config, None)
        self.network = InMemoryNetwork(self.cluster)

    def client(self, client_id: str) -> Client:
        broker = self.cluster.brokers[1]
        return Client(broker.host, broker.port, client_id, network=self.network)

    def wait_until(self, done: Callable[[], bool], what: str) -> None:
        if not self.network.wait(done, LIMIT_S):
            raise TimeoutError(f"waited in vain for {what}")

    def pause(self, seconds: float) -> None:
        self.network.sleep(seconds)


@pytest.mark.parametrize(("release", "story"), [(each, name) for each in RECORDED for name in RECORDED[each]])
def test_the_offsets_topic_is_the_same(release: str, story: str) -> None:
    (tell,) = (each for each in STORIES if each.__name__ == story)
    stage = Stage(Mock(release, story))
    stage.begin()
    told = [[label, json.loads(json.dumps(answer))] for label, answer in tell(stage)]
    for ours, real in zip(told, RECORDED[release][story], strict=True):
        label, _ = real
        assert (ours == real) is (release < "4" or (story, label) not in DIFFERENT), ours
