"""Share consumers behave with mock brokers as Kafka's own tests want them to (`docs/share-cases.md`)."""

from __future__ import annotations

from typing import Final

import pytest

from mockbroker import MockCluster

from .. import needs
from ..turns import in_turn
from . import java
from .share_cases import CONFIG, PROJECT, SETTINGS, every_case, of, play
from .share_cases.seen import PAGE, page, ported, read

RELEASE: Final = "4.4.0"
NOTHING_WRITTEN: Final = {
    "testPollNoSubscribeFails",
    "testSubscribeAndPollNoRecords",
    "testSubscribePollUnsubscribe",
    "testSubscribePollSubscribe",
    "testSubscribeUnsubscribePollFails",
    "testSubscribeSubscribeEmptyPollFails",
    "testPollThrowsInterruptExceptionIfInterrupted",
    "testSubscribeOnInvalidTopicThrowsInvalidTopicException",
    "testShareAutoOffsetResetByDurationInvalidFormat",
    "testDynamicPartitionMaxRecordLocks",
    "testShareGroupMaxSizeConfigExceeded",
    "testConsumerCloseOnBrokerShutdown",
    "testDlqNotTriggeredWhenGatedOff",
}
"""Cases in which nobody acknowledges a record: there may be no states of their groups, or only of others."""


@pytest.mark.needs(*needs.JAVA)
@pytest.mark.long
@pytest.mark.parametrize("name", in_turn([*SETTINGS], 3))
def test_cases_end_as_they_should(name: str) -> None:
    classes = java.class_path(RELEASE, PROJECT)
    setting = SETTINGS[name]
    names = of(setting, every_case(classes))
    config = {**CONFIG, **setting.config}
    with MockCluster(kafka="4.4", brokers=setting.brokers, config=config) as cluster:
        played = play(setting, names, classes, cluster)
    assert played.errors == dict.fromkeys(names, "")
    assert set(names) - NOTHING_WRITTEN <= played.written


def test_the_table_has_every_case() -> None:
    """Those that are ported, and nothing else, are said to be here."""
    rows = [line.split(" | ") for line in PAGE.read_text().splitlines() if line.startswith("| `test")]
    named = [row[0].strip("| `") for row in rows]
    assert len(named) == len(set(named))
    here = [row[0].strip("| `") for row in rows if ".java" in row[1]]
    assert sorted(here) == sorted(ported())
    assert all(row[3].strip(" |") for row in rows if ".java" not in row[1]), "say why not"


def test_cases_were_seen_with_real_brokers_as_they_are_now() -> None:
    """If not, `python -m tests.clients.share_cases --changed` plays them."""
    seen = read()
    assert {name: each.digest for name, each in seen.items()} == ported()
    assert [name for name, each in seen.items() if RELEASE not in each.errors] == []
    assert page(PAGE.read_text(), seen) == PAGE.read_text()
