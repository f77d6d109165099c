"""Has real brokers tell the stories: `python -m tests.log.restarts.make 4.4.0 [STORY ...]`.

One broker, and a controller or ZooKeeper (2.8.2) beside it. Needs java, and mvn for the first run of a
release. Takes some minutes; loopback only. A broker goes once its checkpoints are written: the recovery
point is the base offset of the active segment, and the log start offset what it was.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from mockbroker.rig.client import Client

from ...cluster.controllers.make import CONTROLLER, Real
from .stage import tell
from .stories import STORIES

RECORDED: Final = Path(__file__).parent / "recorded"
NODE: Final = 1
WAYS: Final = ("kill", "stop")
CONFIG: Final = {
    "transaction.partition.verification.enable": "false",
    "log.flush.offset.checkpoint.interval.ms": "500",
    "log.flush.start.offset.checkpoint.interval.ms": "500",
    "log.initial.task.delay.ms": "500",
    "log.retention.check.interval.ms": "500",
    "log.cleaner.enable": "false",
    "broker.session.timeout.ms": "3000",
    "zookeeper.session.timeout.ms": "3000",
}
_CHECKPOINTS: Final = ("recovery-point-offset-checkpoint", "log-start-offset-checkpoint")
_SESSION_S: Final = 6


class RealBroker(Real):
    """The one broker of a cluster."""

    def __init__(self, release: str) -> None:
        super().__init__(release, CONFIG)

    def start_all(self) -> None:
        if self.zookeeper:
            self._start_zookeeper()
        else:
            self._format(CONTROLLER)
            self._spawn(CONTROLLER, "kafka.Kafka", self._file(CONTROLLER))
            self._format(NODE)
        self.start(NODE)

    def _start_zookeeper(self) -> None:
        file = self._folder / "zookeeper.properties"
        file.write_text(
            f"dataDir={self._folder}/zookeeper\nclientPort={self._zookeeper_port}\n"
            "clientPortAddress=127.0.0.1\nadmin.enableServer=false\ntickTime=500\n"
        )
        self._spawn(CONTROLLER, "org.apache.zookeeper.server.quorum.QuorumPeerMain", file)

    # -- what a stage asks for

    def client(self, broker: int = NODE) -> Client:
        return super().client(broker)

    def now_ms(self) -> int:
        return int(time.time() * 1000)

    def until(self, done: Callable[[], bool], what: str) -> None:
        self._until(done, what)

    def again(self, how: str) -> None:
        self._wait_for_checkpoints()
        if how == "kill":
            self.kill(NODE)
            if self.zookeeper:
                # As long as its old session lasts it can't register.
                time.sleep(_SESSION_S)
        else:
            self.stop(NODE)
        self.start(NODE)

    def _wait_for_checkpoints(self) -> None:
        """They are written at regular times, whatever is in them."""
        files = [self._folder / f"data{NODE}" / name for name in _CHECKPOINTS]
        for _ in range(2):
            before = [_written_at(file) for file in files]
            self._until(partial(_all_written_since, files, before), "checkpoints")


def _written_at(file: Path) -> int:
    return file.stat().st_mtime_ns if file.exists() else 0


def _all_written_since(files: Sequence[Path], before: Sequence[int]) -> bool:
    return all(_written_at(file) != then for file, then in zip(files, before, strict=True))


def record(release: str, names: Sequence[str]) -> None:
    """Of each story that is not among them, what was recorded before is kept."""
    told = {name: story for name, story in STORIES.items() if not names or name in names}
    file = RECORDED / f"{release}.json"
    found: dict[str, dict[str, list[list[Any]]]] = json.loads(file.read_text()) if file.exists() else {}
    with RealBroker(release) as real:
        for how in WAYS:
            kept = {**found.get(how, {}), **tell(real, how, told)}
            found[how] = {name: kept[name] for name in STORIES if name in kept}
    RECORDED.mkdir(exist_ok=True)
    file.write_text(_written_down(found))


def _written_down(found: dict[str, dict[str, list[list[Any]]]]) -> str:
    """A line for each answer."""
    ways = []
    for how, stories in found.items():
        parts = [
            f"{json.dumps(name)}: [\n" + ",\n".join(map(json.dumps, each)) + "\n]"
            for name, each in stories.items()
        ]
        ways.append(f"{json.dumps(how)}: {{\n" + ",\n".join(parts) + "\n}")
    return "{\n" + ",\n".join(ways) + "\n}\n"


if __name__ == "__main__":
    record(sys.argv[1], sys.argv[2:])
