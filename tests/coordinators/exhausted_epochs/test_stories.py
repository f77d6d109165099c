"""Ours answer in the last epochs of a producer as real brokers do."""

import pytest

from ...driving.brokers import InMemoryBrokers
from . import STORIES
from .stories import LAST_OF_CLIENTS


class Exhausted(InMemoryBrokers):
    """An `Exhaustible`."""

    def exhaust(self, transactional_id: str) -> None:
        (owned,) = self.cluster.brokers[1].transactions.owned.values()
        entry = owned.entries[transactional_id]
        entry.now = entry.now.fenced(LAST_OF_CLIENTS - 1, -1)


@pytest.mark.parametrize(("release", "story"), STORIES.cases())
def test_the_last_epochs(release: str, story: str) -> None:
    brokers = Exhausted(release, STORIES.setting_of(story))
    ((_, told),) = STORIES.tell(brokers, [story])
    assert told == STORIES.recorded(release)[story]
