"""Groups begin epochs when those of real brokers did."""

import pytest

from ...driving.brokers import InMemoryBrokers
from . import STORIES


@pytest.mark.parametrize(("release", "story"), STORIES.cases())
def test_epochs_begin_as_with_real_brokers(release: str, story: str) -> None:
    brokers = InMemoryBrokers(release, STORIES.setting_of(story))
    ((_, told),) = STORIES.tell(brokers, [story])
    assert told == STORIES.recorded(release)[story]
