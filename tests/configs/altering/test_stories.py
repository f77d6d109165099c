"""Changes of configurations are refused as by real brokers of each release."""

import pytest

from ...driving.brokers import InMemoryBrokers
from . import STORIES


@pytest.mark.parametrize(("release", "story"), STORIES.cases())
def test_changes_of_configurations_are_answered_as_by_real_brokers(release: str, story: str) -> None:
    brokers = InMemoryBrokers(release, STORIES.setting_of(story))
    ((_, told),) = STORIES.tell(brokers, [story])
    assert told == STORIES.recorded(release)[story]
    assert not brokers.network.heard.errors
