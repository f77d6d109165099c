"""Share consumers behave with mock brokers as Kafka's own tests want them to (`docs/share-cases.md`)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from .. import needs
from . import java
from .share_cases import PROJECT, SETTINGS, every_case, of, play

TABLE: Final = Path(__file__).parents[2] / "docs" / "share-cases.md"
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
}
"""Cases in which nobody acknowledges a record: there may be no states of their groups."""


@pytest.mark.needs(*needs.JAVA)
@pytest.mark.long
@pytest.mark.parametrize("name", SETTINGS)
def test_cases_end_as_they_should(name: str) -> None:
    classes = java.class_path("4.4.0", PROJECT)
    names = of(SETTINGS[name], every_case(classes))
    played = play(SETTINGS[name], names, classes)
    assert played.errors == dict.fromkeys(names, "")
    assert set(names) - NOTHING_WRITTEN <= played.written


def test_the_table_has_every_case() -> None:
    """Those that are ported, and nothing else, are said to be here."""
    sources = "".join(each.read_text() for each in PROJECT.glob("*.java"))
    ported = re.findall(r'all\.put\("(test\w+)"', sources)
    assert len(ported) == len(set(ported))
    rows = [line.split("|")[1:4] for line in TABLE.read_text().splitlines() if line.startswith("| `test")]
    named = [case.strip(" `") for case, _, _ in rows]
    assert len(named) == len(set(named))
    here = [case.strip(" `") for case, where, _ in rows if ".java" in where]
    assert sorted(here) == sorted(ported)
    assert all(said.strip() for _, where, said in rows if ".java" not in where), "say why not"
