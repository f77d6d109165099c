"""Applications that seek to the first record, as searches find them."""

from __future__ import annotations

import pytest

from mockbroker.pipeline.signatures import seeks

from .rows import SECOND, History, found_in, healthy
from .short_histories import sought


@pytest.mark.parametrize(("times", "told"), [(1, ""), (3, " (3 times)")])
def test_an_application_that_seeks_to_the_beginning(times: int, told: str) -> None:
    (one,) = found_in(sought(times=times).rows, seeks.find)
    assert (one.signature, one.confidence) == ("seeks-to-beginning", "certain")
    assert (one.group, one.topic, one.partition) == ("billing", "orders", 0)
    assert "sought to the first record of orders-0, although the group had committed 60" in one.summary
    assert one.summary.endswith(f": it read all again{told}")


@pytest.mark.parametrize(
    "rows",
    [
        sought(committed=-1),
        sought(text="… Resetting offset for partition orders-0 to earliest offset."),
        sought(to=60),
        sought(after_ms=600 * SECOND),
    ],
    ids=["a new group", "a reset", "where it was", "not soon"],
)
def test_what_is_no_seek_back(rows: History) -> None:
    assert found_in(rows.rows, seeks.find) == []


def test_what_happens_every_day_is_no_seek_back() -> None:
    assert found_in(healthy().rows, seeks.find) == []
