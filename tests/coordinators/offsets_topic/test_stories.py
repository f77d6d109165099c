"""Our broker answers, and writes to the offsets topic, as real brokers did in the stories."""

import pytest

from ...driving.brokers import InMemoryBrokers
from . import STORIES

DIFFERENT = {
    (
        "simple_commits",
        "twice",
    ): "4.0 and later write a partition twice that a request names twice",
}


@pytest.mark.parametrize(("release", "story"), STORIES.cases())
def test_the_offsets_topic_is_the_same(release: str, story: str) -> None:
    brokers = InMemoryBrokers(release, STORIES.setting_of(story))
    ((_, told),) = STORIES.tell(brokers, [story])
    for ours, real in zip(told, STORIES.recorded(release)[story], strict=True):
        label, _ = real
        assert (ours == real) is (release < "4" or (story, label) not in DIFFERENT), ours
