"""Share groups are answered as by real brokers."""

from typing import Final

import pytest

from ..driving.brokers import InMemoryBrokers
from . import STORIES

DIFFERENT: Final = {
    "4.1.1": (
        "several_members ends_with_acknowledgements limits delivery_counts delivery_counts_in_batches "
        "ranges_of_one_batch ranges_of_batches with_fetches late_acknowledgement uncommitted committed "
        "altering deleting other_groups finding advertised"
    ),
    "4.2.0": "unknown_to_sessions finding advertised",
    "4.3.1": "advertised",
    "4.4.0": "topics_change later_partition altering advertised",
}
"""By release: what is not answered as recorded yet."""


def _cases() -> list[tuple[str, str]]:
    return [(release, story) for release, story in STORIES.cases() if story not in DIFFERENT[release].split()]


@pytest.mark.parametrize(("release", "story"), _cases())
def test_requests_are_answered_as_by_real_brokers(release: str, story: str) -> None:
    brokers = InMemoryBrokers(release, STORIES.setting_of(story))
    ((_, told),) = STORIES.tell(brokers, [story])
    assert told == STORIES.recorded(release)[story]
    assert not brokers.network.heard.errors
