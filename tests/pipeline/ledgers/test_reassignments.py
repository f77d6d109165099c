"""What is noted of a reassignment, row by row."""

from __future__ import annotations

import pytest

from mockbroker.pipeline.ledgers import reassignments

from .folding import MINUTE, Rows, noted

ADDS = "adding 3, removing 2"


def controller(name: str, *details: str, after_ms: int = MINUTE) -> Rows:
    rows = Rows(name, topic="orders", partition=0)
    for detail in details:
        rows.add("reassignment", after_ms, detail=detail)
    return rows


@pytest.mark.parametrize(
    ("details", "lasted"),
    [
        ((ADDS, "completed"), 1),
        ((ADDS, "adding 4, removing 2", "completed"), 2),
        ((ADDS,), None),
        ((ADDS, "completed", "adding 2"), None),
    ],
)
def test_a_reassignment(details: tuple[str, ...], lasted: int | None) -> None:
    *_, found = noted(reassignments.LEDGER, controller("controller.log", *details))
    took = None if found.to_ms is None else (found.to_ms - (found.from_ms or 0)) // MINUTE
    assert (found.what, took) == ("reassignment", lasted)


def test_an_end_that_one_of_several_controllers_tells() -> None:
    """The log of the other one ends before."""
    both = controller("a.log", ADDS), controller("b.log", ADDS, "completed")
    (found,) = noted(reassignments.LEDGER, *both)
    assert found.to_ms == both[1].rows[-1].time_ms


def test_an_end_of_nothing_is_none() -> None:
    assert noted(reassignments.LEDGER, controller("a.log", "completed")) == []
