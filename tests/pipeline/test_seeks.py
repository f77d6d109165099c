"""Applications that seek to the first record, as searches find them."""

from __future__ import annotations

import pytest

from mockbroker.pipeline.signatures import seeks

from .rows import SECOND, History, found_in, healthy

SEEKING = "… Seeking to AutoOffsetResetStrategy{type=earliest} offset of partition orders-0"


def restarted(
    committed: int = 60, text: str = SEEKING, to: int = 0, after_ms: int = SECOND, times: int = 1
) -> History:
    rows = History("client-log")
    for _ in range(times):
        rows.restore(committed, 600 * SECOND, client=None)
        rows.reset(None, text=text).reset(to, after_ms, detail=None)
    return rows


@pytest.mark.parametrize(("times", "told"), [(1, ""), (3, " (3 times)")])
def test_an_application_that_seeks_to_the_beginning(times: int, told: str) -> None:
    (one,) = found_in(restarted(times=times).rows, seeks.find)
    assert (one.signature, one.confidence) == ("seeks-to-beginning", "certain")
    assert (one.group, one.topic, one.partition) == ("billing", "orders", 0)
    assert "sought to the first record of orders-0, although the group had committed 60" in one.summary
    assert one.summary.endswith(f": it read all again{told}")


@pytest.mark.parametrize(
    "rows",
    [
        restarted(committed=-1),
        restarted(text="… Resetting offset for partition orders-0 to earliest offset."),
        restarted(to=60),
        restarted(after_ms=600 * SECOND),
        healthy(),
    ],
    ids=["a new group", "a reset", "where it was", "not soon", "every day"],
)
def test_what_is_no_seek_back(rows: History) -> None:
    assert found_in(rows.rows, seeks.find) == []
