"""Has real clusters tell the stories: `python -m tests.cluster.controllers.make 4.4.0 [STORY ...]`.

Four brokers; with KRaft a controller beside them, with ZooKeeper (2.8.2) one of them. Needs java, and mvn for
the first run of a release. Takes some minutes; loopback only.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from mockbroker.rig.client import Client
from mockbroker.rig.real_broker import RealCluster

from .stage import BROKERS, Stage, Story
from .stories import STORIES

RECORDED: Final = Path(__file__).parent / "recorded"
CONTROLLER: Final = 9
CONFIG: Final = {
    "auto.leader.rebalance.enable": "false",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
}
SHORT: Final = {"broker.session.timeout.ms": "3000", "zookeeper.session.timeout.ms": "3000"}
LONG: Final = {"broker.session.timeout.ms": "120000", "zookeeper.session.timeout.ms": "120000"}
HOLDING: Final = ("under_way", "partitions_meanwhile")
"""Stories in which a broker stands still, and is not to be taken for dead."""
_LIMIT_S: Final = 90.0
_STILL_S: Final = 1.5
_STORAGE = "kafka.tools.StorageTool"


class Real(RealCluster):
    """Four brokers whose processes can be stopped, killed and held."""

    def __init__(self, release: str, config: dict[str, str]) -> None:
        self.zookeeper = release.startswith("2.")
        super().__init__(release, len(BROKERS), {**CONFIG, **config})
        self._zookeeper_port = self._controller_port

    def _properties(self, node: int) -> dict[str, str]:
        found = super()._properties(node) if node != CONTROLLER else dict(self.config)
        if self.zookeeper:
            dropped = ("process.roles", "node.id", "controller.", "broker.session")
            kept = {k: v for k, v in found.items() if not k.startswith(dropped)}
            listener = f"PLAINTEXT://127.0.0.1:{self.ports[node]}"
            kept |= {"broker.id": str(node), "listeners": listener, "advertised.listeners": listener}
            kept["listener.security.protocol.map"] = "PLAINTEXT:PLAINTEXT"
            return kept | {"zookeeper.connect": f"127.0.0.1:{self._zookeeper_port}"}
        found = {key: value for key, value in found.items() if not key.startswith("zookeeper")}
        found["controller.quorum.voters"] = f"{CONTROLLER}@127.0.0.1:{self._controller_port}"
        if node == CONTROLLER:
            return found | {
                "node.id": str(node),
                "process.roles": "controller",
                "controller.listener.names": "CONTROLLER",
                "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
                "listeners": f"CONTROLLER://127.0.0.1:{self._controller_port}",
                "log.dirs": f"{self._folder}/data{node}",
            }
        own = f"PLAINTEXT://127.0.0.1:{self.ports[node]}"
        return found | {"process.roles": "broker", "listeners": own}

    def start_all(self) -> None:
        if self.zookeeper:
            file = self._folder / "zookeeper.properties"
            file.write_text(
                f"dataDir={self._folder}/zookeeper\nclientPort={self._zookeeper_port}\n"
                "clientPortAddress=127.0.0.1\nadmin.enableServer=false\ntickTime=500\nmaxSessionTimeout=200000\n"
            )
            self._spawn(CONTROLLER, "org.apache.zookeeper.server.quorum.QuorumPeerMain", file)
        else:
            self._format(CONTROLLER)
            self._spawn(CONTROLLER, "kafka.Kafka", self._file(CONTROLLER))
        for node in BROKERS:
            if not self.zookeeper:
                self._format(node)
            self._spawn(node, "kafka.Kafka", self._file(node))
        for node in BROKERS:
            self._until(partial(self._knows_all, node), f"broker {node}")

    def _file(self, node: int) -> Path:
        file = self._folder / f"server{node}.properties"
        file.write_text("".join(f"{key}={value}\n" for key, value in self._properties(node).items()))
        return file

    def _format(self, node: int) -> None:
        command = self._command(_STORAGE, "format", "-t", self.cluster_id, "-c", str(self._file(node)))
        subprocess.run(command, check=True, capture_output=True)

    def _spawn(self, node: int, main: str, file: Path) -> None:
        with (self._folder / f"broker{node}.log").open("ab") as log:
            self._processes[node] = subprocess.Popen(
                self._command(main, str(file)), stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def _until(self, done: Callable[[], bool], what: str) -> None:
        limit = time.monotonic() + _LIMIT_S
        while not done():
            if time.monotonic() > limit:
                raise TimeoutError(f"waited in vain for {what}")
            time.sleep(0.1)

    def _knows_all(self, node: int) -> bool:
        return len(self._listed(node)) == len(BROKERS)

    def _listed(self, node: int) -> list[int]:
        """Which brokers it tells of."""
        try:
            with self.client(node) as client:
                answer = client.call("metadata", 4, {"topics": [], "allow_auto_topic_creation": False})
        except OSError:
            return []
        return [each["node_id"] for each in answer["brokers"]]

    # -- what a stage asks for

    def client(self, broker: int) -> Client:
        return Client("127.0.0.1", self.ports[broker], timeout=30)

    def stop(self, broker: int = 0) -> None:
        if not broker:
            for process in self._processes.values():
                process.send_signal(signal.SIGCONT)
            super().stop()
            return
        self._end(broker, signal.SIGTERM)

    def kill(self, broker: int) -> None:
        self._end(broker, signal.SIGKILL)

    def _end(self, broker: int, how: signal.Signals) -> None:
        process = self._processes.pop(broker)
        process.send_signal(how)
        process.wait(60)
        others = [each for each in BROKERS if each in self._processes]
        self._until(lambda: all(broker not in self._listed(each) for each in others), f"{broker} to be gone")

    def start(self, broker: int = 0) -> None:
        if not broker:
            self.start_all()
            return
        self._spawn(broker, "kafka.Kafka", self._file(broker))
        self._until(
            lambda: all(broker in self._listed(each) for each in BROKERS if each in self._processes),
            f"{broker} to be back",
        )

    def hold(self, broker: int) -> None:
        os.kill(self._processes[broker].pid, signal.SIGSTOP)

    def let_go(self, broker: int) -> None:
        os.kill(self._processes[broker].pid, signal.SIGCONT)

    def settle(self, look: Callable[[int], Any], online: Sequence[int]) -> Any:
        limit, since, last = time.monotonic() + _LIMIT_S, time.monotonic(), None
        while True:
            seen = [look(broker) for broker in online]
            agreed = all(each == seen[0] for each in seen)
            if not agreed or seen != last:
                since, last = time.monotonic(), seen
            elif time.monotonic() - since > _STILL_S * (1 + self.zookeeper):
                return seen[0]
            if time.monotonic() > limit:
                raise TimeoutError(f"brokers {online} do not agree: {seen}")
            time.sleep(0.1)


def record(release: str, names: Sequence[str]) -> None:
    """Of each story that is not among them, what was recorded before is kept."""
    told = [each for each in STORIES if not names or each.__name__ in names]
    for config, holding in ((SHORT, False), (LONG, True)):
        chosen = [each for each in told if (each.__name__ in HOLDING) is holding]
        if chosen:
            with Real(release, config) as real:
                for story in chosen:
                    keep(release, story.__name__, tell(real, story))


def tell(real: Real, story: Story) -> list[list[Any]]:
    stage = Stage(real)
    try:
        found = []
        for label, answer in story(stage):
            found.append([label, answer])
            sys.stderr.write(f"{story.__name__} {label} {json.dumps(answer)}\n")
        stage.restore()
        return found
    finally:
        stage.close()


def keep(release: str, name: str, told: list[list[Any]]) -> None:
    file = RECORDED / f"{release}.json"
    RECORDED.mkdir(exist_ok=True)
    kept = json.loads(file.read_text()) if file.exists() else {}
    kept[name] = told
    stories = (
        f"{json.dumps(each.__name__)}: [\n" + ",\n".join(map(json.dumps, kept[each.__name__])) + "\n]"
        for each in STORIES
        if each.__name__ in kept
    )
    file.write_text("{\n" + ",\n".join(stories) + "\n}\n")


if __name__ == "__main__":
    record(sys.argv[1], sys.argv[2:])
