"""What is asked: `python -m mockbroker.rig record tests.old_formats.replicas`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from mockbroker.rig import requests
from mockbroker.rig.batches import batch
from mockbroker.rig.client import Client
from mockbroker.rig.setup import BROKER_CONFIG
from mockbroker.rig.stories import Setting, Steps, Told, named

from ..producing import THREE
from ..stage import OldStage, only

_FETCH_WAITS_S: Final = 1.0
_FORMATS: Final = {0: "0.9.0", 1: "0.10.2", 2: "0.11.0"}


class ReplicaStage(OldStage):
    """Two brokers, of which `leading` is asked."""

    leading = 1

    def client(self, broker: int = 0, by: str = "") -> Client:
        return super().client(broker or self.leading, by)

    def create(self, name: str, **configs: str) -> None:
        topic = requests.new_topic(
            name, replicas=[[self.leading, 3 - self.leading]], configs=requests.dotted(configs)
        )
        controller = self.ask("metadata", {"topics": []}, version=4)["controller_id"]
        answer = self.ask("create_topics", requests.create_topics(topic), version=2, broker=controller)
        assert only(answer, "topics")["error_code"] == "NONE", answer
        self.brokers.until(lambda: self.end(name) == 0 and self._in_sync(name), f"{name} to be there")

    def move(self, name: str) -> None:
        """The other broker leads; this one follows it again."""
        before, self.leading = self.leading, 3 - self.leading
        self.stop(before)
        self.until_led(name)
        self.start(before)
        self.until_in_sync(name)

    def until_led(self, name: str) -> None:
        self.brokers.until(lambda: self.end(name) >= 0, f"{name} to have a leader")

    def until_in_sync(self, name: str) -> None:
        self.brokers.until(lambda: self._in_sync(name), f"{name} to be in sync")

    def _in_sync(self, name: str) -> bool:
        answer = self.ask("metadata", {"topics": [{"name": name}]}, version=4)
        (topic,) = answer["topics"]
        # A broker may not have learned of it yet.
        return [len(each["isr_nodes"]) for each in topic["partitions"]] == [len(self.brokers.nodes)]


def _seen(s: ReplicaStage, name: str) -> Iterator[tuple[str, Any]]:
    for epoch in range(-1, 6):
        yield f"epoch {epoch}", s.epoch(name, epoch)
    yield "end", s.end(name)
    yield "size", s.size(name)
    for version in (0, 2, 4):
        yield f"v{version}", s.fetch(version, name)


def moving(s: ReplicaStage) -> Steps:
    """Leaders move, and what they write has another format each time."""
    for way in ((2, 1, 2), (1, 2, 0), (0, 1, 1)):
        name = "moved-" + "".join(map(str, way))
        s.create(name, message_format_version=_FORMATS[way[0]])
        for number, magic in enumerate(way):
            if number:
                s.set_formats(name, _FORMATS[magic])
            yield f"{name} {number}, written", s.produce(s.newest("produce", 7), name, batch(THREE))
            yield from ((f"{name} {number}: {label}", seen) for label, seen in _seen(s, name))
            s.move(name)
            yield from ((f"{name} {number}, moved: {label}", seen) for label, seen in _seen(s, name))


def cutting(s: ReplicaStage) -> Steps:
    """A leader comes back with records that the next one never had."""
    names = {"cut-1": (1,), "cut-21": (2, 1), "cut-12": (1, 2)}
    for name, way in names.items():
        s.create(name, message_format_version=_FORMATS[way[0]])
        for number, magic in enumerate(way):
            if number:
                s.set_formats(name, _FORMATS[magic])
            yield f"{name} {number}, written", s.produce(s.newest("produce", 7), name, batch(THREE))
    s.brokers.checkpoint(s.leading)
    before = s.leading
    s.hold(3 - before)
    # A fetch that waits is answered first.
    s.brokers.sleep(_FETCH_WAITS_S)
    for name in names:
        yield f"{name}, only there", s.produce(s.newest("produce", 7), name, batch(THREE), acks=1)
    s.kill(before)
    s.leading = 3 - before
    s.let_go(s.leading)
    for name in names:
        s.until_led(name)
        yield from ((f"{name}, the next: {label}", seen) for label, seen in _seen(s, name))
        yield f"{name}, instead", s.produce(s.newest("produce", 7), name, batch(THREE[:1]), acks=1)
    s.start(before)
    for name in names:
        s.until_in_sync(name)
        yield from ((f"{name}, both: {label}", seen) for label, seen in _seen(s, name))
    for number, name in enumerate(names):
        if not number:
            s.move(name)
        s.until_in_sync(name)
        yield from ((f"{name}, the first again: {label}", seen) for label, seen in _seen(s, name))


STORIES: Final = Told(
    folder=Path(__file__).parent,
    stories=named(moving, cutting),
    stage=ReplicaStage,
    setting=Setting(brokers=2, config=BROKER_CONFIG),
)
