"""When members are asked again for the description of their topology."""

from ..driving.brokers import InMemoryBrokers
from . import STORIES
from .stage import StreamsStage

WAITS_S = (23, 14, 23, 23, 28)
"""After 30 s, a fifth of that more or less, members are asked again; and then after twice as long."""


def test_nobody_is_asked_again_too_soon() -> None:
    stage = StreamsStage(InMemoryBrokers("4.4.0", STORIES.setting_of("describing")), "describing")
    stage.begin()
    stage.topic("lines")
    one = stage.member()
    asked = [one.join(*stage.words())["topology_description_required"]]
    for wait_s in WAITS_S:
        stage.brokers.sleep(wait_s)
        asked.append(one.beat()["topology_description_required"])
    assert asked == [True, False, True, False, False, True]
    stage.close()
