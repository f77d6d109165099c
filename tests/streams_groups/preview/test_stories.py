"""Streams groups of 4.1 are answered as by real brokers on which they are turned on."""

import pytest

from mockbroker.rig.stage import Stage

from ...driving.brokers import InMemoryBrokers
from . import STORIES, UNSTABLE, without_chance

HEARTBEAT, DESCRIBE = 88, 89
APIS, FEATURES = UNSTABLE


@pytest.mark.parametrize(("release", "story"), STORIES.cases())
def test_requests_are_answered_as_by_real_brokers(release: str, story: str) -> None:
    brokers = InMemoryBrokers(release, STORIES.setting_of(story))
    ((_, told),) = STORIES.tell(brokers, [story])
    assert without_chance(story, told) == without_chance(story, STORIES.recorded(release)[story])
    assert not brokers.network.heard.errors


@pytest.mark.parametrize("apis", [False, True])
@pytest.mark.parametrize("features", [False, True])
def test_a_broker_says_what_is_turned_on(apis: bool, features: bool) -> None:
    """As 4.1.1 said it."""
    config = {APIS: str(apis).lower(), FEATURES: str(features).lower()}
    stage = Stage(InMemoryBrokers("4.1.1", STORIES.setting.with_config(config)))
    asked = {"client_software_name": "c", "client_software_version": "1"}
    answer = stage.ask("api_versions", asked, version=4)
    keys = {each["api_key"]: each["max_version"] for each in answer["api_keys"]}
    assert (HEARTBEAT in keys, DESCRIBE in keys) == (apis, apis)
    assert keys[8] == keys[9] == (10 if apis else 9)
    levels = {each["name"]: each["max_version_level"] for each in answer["finalized_features"]}
    assert levels.get("streams.version") == levels.get("share.version") == (1 if features else None)
    assert levels["metadata.version"] == (29 if features else 27)
    stage.close()
