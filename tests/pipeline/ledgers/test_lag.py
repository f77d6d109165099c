"""A group that falls behind although it lives: slowly, in bursts, or not at all."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mockbroker.pipeline.ledgers import Note, failures
from mockbroker.pipeline.ledgers.partitions import LEDGER
from mockbroker.pipeline.readers.denial_messages import THROTTLED
from mockbroker.pipeline.symptoms import symptoms

from .folding import MINUTE, OFFSETS, SECOND, Rows, noted

ABOUT = {"topic": "orders", "partition": 0}
STEP_MS = 5 * SECOND
Pace = Callable[[int], int]


def grew(minutes: int, written: Pace, read: Pace) -> list[Note]:
    """What is noted if a producer has written, and a group committed, so many records after each minute."""
    log = Rows("broker1/orders-0/0.log", "segment", **ABOUT)
    group = Rows(f"broker1/{OFFSETS}", "segment", group="billing", **ABOUT)
    group.add("commit", SECOND, offset=0)
    end = 0
    for step in range(minutes * MINUTE // STEP_MS):
        minute = step * STEP_MS // MINUTE
        last, end = end, written(minute) + step
        log.add("append", STEP_MS, offset=last, end_offset=max(end, last + 1))
        group.add("commit", STEP_MS, offset=min(read(minute) + step, end))
    return [each for each in noted(LEDGER, log, group) if each.what == "lag-grows"]


@pytest.mark.parametrize(
    ("minutes", "written", "read", "grows"),
    [
        (30, lambda at: 1_000 * at, lambda at: 500 * at, True),
        (600, lambda at: 1_000 * at, lambda at: 999 * at, True),
        (1_200, lambda at: 1_000 * at + 300 * (at % 7), lambda at: 990 * at, True),
        (30, lambda at: 1_000 * at, lambda at: 1_000 * at, False),
        (600, lambda at: 1_000 * at, lambda at: 1_000 * at - 50 * (at % 9), False),
        (60, lambda at: 1_000 * at + 50_000 * (at > 20), lambda at: 2_000 * at, False),
        (60, lambda at: 1_000 * at + 50_000 * (at > 50), lambda at: 1_000 * at, False),
        (60, lambda at: 1_000 * at + 9_000 * (at > 2), lambda at: 1_000 * at, False),
        (60, lambda at: 1_000 * at, lambda at: 500 * at if at < 50 else 1_500 * at, False),
    ],
    ids=[
        *("half as fast", "a little slower", "slower, in bursts", "as fast", "now and then late"),
        *("a burst that is read", "a burst just now", "a burst that stays", "slower for a while"),
    ],
)
def test_a_group(minutes: int, written: Pace, read: Pace, *, grows: bool) -> None:
    found = symptoms(grew(minutes, written, read))
    assert [(each.name, each.group) for each in found] == [("lag-grows", "billing")] * grows


@pytest.mark.parametrize(("group", "tells"), [("billing", True), ("shipping", False)])
def test_a_group_whose_client_is_throttled(group: str, *, tells: bool) -> None:
    """It is noticed sooner: after a minute in place of ten."""
    waits = Rows("client.log", "client-log", client="a", group=group)
    for _ in range(4):
        waits.add("complaint", MINUTE // 2, error=THROTTLED, detail="9000")
    notes = [*grew(3, lambda at: 1_000 * at, lambda at: 500 * at), *noted(failures.LEDGER, waits)]
    found = {each.name: each.told for each in symptoms(notes)}
    assert found.pop("client-throttled") == "client a was throttled: it had to wait 36 s in all"
    assert list(found) == ["lag-grows"] * tells
    assert not tells or found["lag-grows"].endswith(" records, while its client was throttled")


def test_how_it_is_told() -> None:
    (found,) = symptoms(grew(31, lambda at: 1_000 * at, lambda at: 500 * at))
    assert found.told == (
        "group billing fell behind in orders-0 for 30 min, from 0 to 15,000 records, although it went on"
    )
    assert found.count == 15_000


def test_a_few_minutes_are_no_symptom() -> None:
    noted_only = grew(9, lambda at: 1_000 * at, lambda at: 500 * at)
    assert len(noted_only) == 1
    assert symptoms(noted_only) == []
