"""What brokers say of an unclean election, where the log of the controller is not among the files."""

from __future__ import annotations

from typing import Any

import pytest

from mockbroker.pipeline.signatures import elections

from .rows import History, found_in

LOG: dict[str, Any] = {"broker": 2, "source": "broker-log"}


def elected(*epochs: tuple[int, int]) -> History:
    """What broker 2 says of leader epochs and their leaders, and that the last one had to recover."""
    rows = History("broker-log")
    for epoch, leader in epochs:
        rows.add("leader", leader=leader, leader_epoch=epoch, offset=100, **LOG)
    return rows.add("leader", leader=2, detail="unclean", **LOG)


@pytest.mark.parametrize(
    "epochs",
    [((0, 2), (1, -1), (2, 1), (3, -1), (4, 2)), ((3, -1), (4, 2)), ((2, 2), (4, 2)), ()],
    ids=["another one led last", "it may have been another one", "somebody may have led between", "unknown"],
)
def test_it_may_be_the_last_leader(epochs: tuple[tuple[int, int], ...]) -> None:
    (one,) = found_in(elected(*epochs).rows, elections.find)
    assert one.confidence == "likely"
    assert one.why.endswith("the log of the controller would tell")


def test_the_last_leader_came_back() -> None:
    """As the only replica does (KIP-966)."""
    rows = elected((0, 2), (1, -1), (2, 2))
    assert found_in(rows.rows, elections.find) == []


@pytest.mark.parametrize("offset", [100, 120])
def test_the_controller_says_so(offset: int) -> None:
    rows = History("broker-log").commit(offset)
    rows.add("leader", leader=2, leader_epoch=4, detail="unclean")
    rows.add("leader", leader=2, leader_epoch=4, offset=100, **LOG)
    (one,) = found_in(rows.rows, elections.find)
    assert one.confidence == "certain"
    assert ("20 acknowledged records from offset 100 on are lost" in one.summary) is (offset > 100)
