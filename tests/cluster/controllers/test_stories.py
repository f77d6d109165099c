"""Our controller tells the stories as those of real clusters did."""

import pytest

from ...driving.brokers import InMemoryBrokers
from . import STORIES

DIFFERENT = {
    ("2.8.2", "under_way", "produced: after"): "min.insync.replicas asked for more replicas than there are",
}


@pytest.mark.parametrize(("release", "story"), STORIES.cases())
def test_controllers_do_the_same(release: str, story: str) -> None:
    brokers = InMemoryBrokers(release, STORIES.setting_of(story))
    ((_, told),) = STORIES.tell(brokers, [story])
    for (label, answer), real in zip(told, STORIES.recorded(release)[story], strict=True):
        same = [label, answer] == real
        assert same is ((release, story, label) not in DIFFERENT), [label, answer]
