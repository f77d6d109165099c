"""Producers with an epoch above the current one are answered as by real brokers of each release."""

import pytest

from ...driving.brokers import InMemoryBrokers
from . import STORIES


@pytest.mark.parametrize(("release", "story"), STORIES.cases())
def test_later_epochs_are_answered_as_by_real_brokers(release: str, story: str) -> None:
    brokers = InMemoryBrokers(release, STORIES.setting_of(story))
    ((_, told),) = STORIES.tell(brokers, [story])
    assert told == STORIES.recorded(release)[story]
    assert not brokers.network.heard.errors
