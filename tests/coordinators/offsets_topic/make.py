"""Has real brokers tell the stories: `python -m tests.coordinators.offsets_topic.make 4.4.0 [STORY ...]`.

One broker for each story. Needs java, and mvn for the first run of a release. Loopback only.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from mockbroker.rig.client import Client
from mockbroker.rig.real_broker import RealCluster

from .stage import Stage, Story
from .stories import CONFIGS, SINCE, STORIES

RECORDED: Final = Path(__file__).parent / "recorded"
_LIMIT_S: Final = 150.0
CONFIG: Final = {
    "delete.topic.enable": "true",
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
}


class Real(RealCluster):
    def __init__(self, release: str, config: Mapping[str, str]) -> None:
        super().__init__(release, 1, {**CONFIG, **config})

    def client(self, client_id: str) -> Client:
        return Client("127.0.0.1", self.ports[1], client_id, timeout=30)

    def wait_until(self, done: Callable[[], bool], what: str) -> None:
        limit = time.monotonic() + _LIMIT_S
        while not done():
            if time.monotonic() > limit:
                raise TimeoutError(f"waited in vain for {what}")
            time.sleep(0.05)

    def pause(self, seconds: float) -> None:
        time.sleep(seconds)


class Old(Real):
    """With ZooKeeper, whose jars are those of the broker."""

    def _properties(self, node: int) -> dict[str, str]:
        dropped = ("process.roles", "node.id", "controller.")
        kept = {key: value for key, value in super()._properties(node).items() if not key.startswith(dropped)}
        listener = f"PLAINTEXT://127.0.0.1:{self.ports[node]}"
        return {
            **kept,
            "broker.id": str(node),
            "listeners": listener,
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT",
            "zookeeper.connect": f"127.0.0.1:{self._controller_port}",
        }

    def _format(self, node: int) -> None:
        """Starts ZooKeeper instead, before the broker."""
        file = self._folder / "zookeeper.properties"
        file.write_text(
            f"dataDir={self._folder}/zookeeper\nclientPort={self._controller_port}\n"
            "clientPortAddress=127.0.0.1\nadmin.enableServer=false\n"
        )
        properties = self._folder / f"server{node}.properties"
        properties.write_text("".join(f"{key}={value}\n" for key, value in self._properties(node).items()))
        command = self._command("org.apache.zookeeper.server.quorum.QuorumPeerMain", str(file))
        with (self._folder / "zookeeper.log").open("ab") as log:
            self._processes[0] = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def _up(self, node: int) -> bool:
        try:
            with self.client("start") as client:
                return len(client.call("metadata", 1, {"topics": []})["brokers"]) == 1
        except OSError:
            return False


def tell(release: str, story: Story) -> list[list[Any]]:
    kind = Old if release.startswith(("0.", "1.", "2.")) else Real
    with kind(release, CONFIGS.get(story.__name__, {})) as real:
        stage = Stage(real)
        found = []
        try:
            api, version = SINCE.get(story.__name__, ("fetch", 0))
            if stage.newest(api) < version:
                return []
            stage.begin()
            for label, answer in story(stage):
                found.append([label, answer])
                sys.stderr.write(f"{story.__name__} {label} {json.dumps(answer)}\n")
        finally:
            stage.close()
    return found


def record(release: str, names: Sequence[str]) -> None:
    """Of each story that is not among them, what was recorded before is kept."""
    file = RECORDED / f"{release}.json"
    RECORDED.mkdir(exist_ok=True)
    for story in STORIES:
        if not names or story.__name__ in names:
            told = {story.__name__: tell(release, story)}
            kept = json.loads(file.read_text()) if file.exists() else {}
            every = {**kept, **told}
            ordered = {each.__name__: every.get(each.__name__) for each in STORIES}
            found = {name: said for name, said in ordered.items() if said}
            file.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    record(sys.argv[1], sys.argv[2:])
