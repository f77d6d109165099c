"""Replicas answer as those of real brokers."""

import pytest

from ...driving.brokers import InMemoryBrokers
from . import STORIES


@pytest.mark.parametrize(("release", "story"), STORIES.cases())
def test_replicas_of_old_formats_are_as_those_of_real_brokers(release: str, story: str) -> None:
    brokers = InMemoryBrokers(release, STORIES.setting_of(story))
    ((_, told),) = STORIES.tell(brokers, [story])
    assert told == STORIES.recorded(release)[story]
    assert not brokers.network.heard.errors
