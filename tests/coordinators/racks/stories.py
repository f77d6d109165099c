"""A topic is reassigned, within racks and to others, while a group reads it."""

from pathlib import Path
from typing import Final

from mockbroker.rig.setup import BROKER_CONFIG, QUICK_CONFIG, SHARE_CONFIG, STREAMS_CONFIG
from mockbroker.rig.stories import Setting, Steps, Told

from .stage import RACKS, RacksStage


def racks(s: RacksStage) -> Steps:
    """Epochs after each reassignment, and after a partition was added."""
    s.placed([1])
    yield "joined", s.join()
    yield "kept", s.kept()
    for label, replicas in (
        ("to another rack", [2]),
        ("back, to another broker of the rack", [3]),
        ("within the rack", [1]),
        ("one more in the rack", [1, 3]),
        ("one in another rack, too", [1, 2]),
        ("in another order", [2, 1]),
    ):
        s.reassign(replicas)
        yield label, s.beat()
        yield "kept", s.kept()
    s.grow([2, 1], [3, 1])
    yield "one more partition", s.beat()
    yield "kept", s.kept()


STORIES: Final = Told(
    Path(__file__).parent,
    {"consumer": racks, "share": racks, "streams": racks},
    RacksStage,
    Setting(
        3,
        {
            **BROKER_CONFIG,
            **QUICK_CONFIG,
            **SHARE_CONFIG,
            **STREAMS_CONFIG,
            "group.consumer.assignment.interval.ms": "0",
        },
        racks=RACKS,
    ),
    {"consumer": {"group.coordinator.rebalance.protocols": "classic,consumer"}},
)
