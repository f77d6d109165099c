"""Has real brokers tell the stories: `python -m tests.coordinators.offsets_topic.make 4.4.0 [STORY ...]`.

One broker for each story. Needs java, and mvn for the first run of a release. Loopback only.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from mockbroker.conformance.client import Client
from mockbroker.conformance.real_broker import RealCluster

from .stage import Stage, Story
from .stories import CONFIGS, STORIES

RECORDED: Final = Path(__file__).parent / "recorded"
_LIMIT_S: Final = 150.0
CONFIG: Final = {
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


def tell(release: str, story: Story) -> list[list[Any]]:
    with Real(release, CONFIGS.get(story.__name__, {})) as real:
        stage = Stage(real)
        found = []
        try:
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
            told = tell(release, story)
            kept = json.loads(file.read_text()) if file.exists() else {}
            file.write_text(json.dumps({**kept, story.__name__: told}, indent=1) + "\n")


if __name__ == "__main__":
    record(sys.argv[1], sys.argv[2:])
