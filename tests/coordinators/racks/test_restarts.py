"""A coordinator that is loaded knows what the group's epoch knew of its topics."""

from collections.abc import Callable

import pytest

from ...driving.brokers import InMemoryBrokers
from . import STORIES
from .stage import RacksStage

CASES = [
    ("consumer", "3.9.2"),
    ("consumer", "4.0.1"),
    ("consumer", "4.4.0"),
    ("share", "4.4.0"),
    ("streams", "4.4.0"),
]


@pytest.mark.parametrize(("kind", "release"), CASES)
def test_an_epoch_begins_if_topics_changed_while_there_was_no_coordinator(kind: str, release: str) -> None:
    stage = RacksStage(InMemoryBrokers(release, STORIES.setting_of(kind)), kind)
    stage.begin()
    first, second = (each for each in stage.online if each != stage.home)
    stage.placed([first])
    epochs = stage.join()
    restart(stage)
    assert stage.beat() == epochs
    restart(stage, lambda: stage.grow([first], [second]))
    assert stage.beat() == [each + 1 for each in epochs]


def restart(stage: RacksStage, meanwhile: Callable[[], object] = lambda: None) -> None:
    """The coordinator's broker."""
    home = stage.home
    stage.stop(home)
    meanwhile()
    stage.start(home)
    stage.brokers.until(stage.coordinates, "the coordinator")
