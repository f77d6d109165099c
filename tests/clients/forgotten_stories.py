"""How producers are forgotten, or robbed of their records: each story ends with what came of record `b0`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from mockbroker.rig.waiting import wait_for

from .forgetting import BROKERS, TOPIC, UNCLEAN, Scene
from .java_producers import Reply
from .scenario import TIMEOUT

OLD_AND_NEW: Final = ("2.3", "2.4", "4.4", "4.4 as 2.3")


def retention(scene: Scene) -> Reply:
    """All that the producer wrote is deleted; nothing is lost that was to be kept."""
    scene.acknowledged(3)
    scene.delete_records()
    return scene.send("b0")


def loss(scene: Scene) -> Reply:
    """The last two of three records were on the leader alone, and it goes down."""
    scene.acknowledged(1)
    scene.cluster.pause_follower(TOPIC, 0, 2)
    scene.acknowledged(2)
    scene.cluster.stop_broker(1)
    return scene.send("b0")


def first_loss(scene: Scene) -> Reply:
    """The only record was on the leader alone, and it goes down: the new leader's log is empty."""
    scene.cluster.pause_follower(TOPIC, 0, 2)
    scene.acknowledged(1)
    scene.cluster.stop_broker(1)
    return scene.send("b0")


def retry(scene: Scene) -> Reply:
    """`b0` is written, but its answer is lost; before it comes again, retention takes all there is."""
    scene.acknowledged(3)
    faults = scene.cluster.faults
    with (
        faults.add("disconnect", api="Produce", topic=TOPIC, when="after", times=1),
        faults.add("hold", api="Produce", topic=TOPIC, nth=2) as again,
    ):
        sent = scene.sender.start("b0")
        again.wait()
        scene.delete_records()
        again.release()
        return sent.result(TIMEOUT)


def _resurface(scene: Scene, count: int) -> Reply:
    """Retention takes all from the leader, which forgets the producer; a follower that has not heard of it
    leads next. `b0` is under way."""
    scene.acknowledged(count)
    scene.cluster.pause_follower(TOPIC, 0, 2)
    scene.delete_records()
    sent = scene.sender.start("b0")
    wait_for("the leader to append it", lambda: scene.end_offset(1) == count + 1)
    scene.cluster.stop_broker(1)
    return sent.result(TIMEOUT)


def resurface_few(scene: Scene) -> Reply:
    """So few batches that the new leader remembers each of them."""
    return _resurface(scene, 3)


def resurface_many(scene: Scene) -> Reply:
    """More than the five batches that a broker remembers."""
    return _resurface(scene, 7)


class Story(NamedTuple):
    """`tell` is what happens, under the title that the page has."""

    title: str
    tell: Callable[[Scene], Reply]
    brokers: tuple[str, ...]
    config: Mapping[str, str] = {}


STORIES: Final = (
    Story("An idle producer outlives its records", retention, tuple(BROKERS)),
    Story("Acknowledged records are lost", loss, tuple(BROKERS), UNCLEAN),
    Story("The first record is lost", first_loss, tuple(BROKERS), UNCLEAN),
    Story("A retry after its record was deleted", retry, OLD_AND_NEW),
    Story("State that comes back, of few batches", resurface_few, OLD_AND_NEW),
    Story("State that comes back, of many batches", resurface_many, OLD_AND_NEW),
)
