"""A broker that is started again knows of producers what real ones knew."""

import pytest

from ...driving.brokers import InMemoryBrokers
from . import STORIES


@pytest.mark.parametrize(("release", "story"), STORIES.cases())
def test_the_same_producers_are_known(release: str, story: str) -> None:
    brokers = InMemoryBrokers(release, STORIES.setting_of(story))
    ((_, told),) = STORIES.tell(brokers, [story])
    assert told == STORIES.recorded(release)[story]
