"""Share groups are answered as by real brokers."""

from typing import Final

import pytest

from ..driving.brokers import InMemoryBrokers
from . import STORIES

DIFFERENT: Final = {
    "4.1.1": ("advertised",),
    "4.2.0": ("advertised",),
    "4.3.1": (),
    "4.4.0": (),
}
"""By release: these brokers tell of a configuration that they do not know."""


def _cases() -> list[tuple[str, str]]:
    return [(release, story) for release, story in STORIES.cases() if story not in DIFFERENT[release]]


@pytest.mark.parametrize(("release", "story"), _cases())
def test_requests_are_answered_as_by_real_brokers(release: str, story: str) -> None:
    brokers = InMemoryBrokers(release, STORIES.setting_of(story))
    ((_, told),) = STORIES.tell(brokers, [story])
    assert told == STORIES.recorded(release)[story]
    assert not brokers.network.heard.errors
