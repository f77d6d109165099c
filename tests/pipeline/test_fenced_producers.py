"""Producers that were fenced, if only the coordinator's topic tells of them."""

from __future__ import annotations

from typing import Any

import pytest

from mockbroker.pipeline.readers.producer_messages import TIMED_OUT
from mockbroker.pipeline.readers.refusal_messages import GIVEN
from mockbroker.pipeline.signatures import fenced_producers

from .rows import SECOND, History, found_in

TOPIC: dict[str, Any] = {"topic": None, "partition": None, "transactional_id": "payments", "producer_id": 7}
TAKEN = (("Ongoing", 0, 0), ("PrepareAbort", 1, 150), ("CompleteAbort", 1, 2), ("Empty", 2, 100))


def states(*steps: tuple[str, int, int], before: str = "CompleteCommit", epoch: int = 0) -> History:
    """What a coordinator wrote: state, epoch, and how many ms after the one before."""
    rows = History("segment").add("transaction", detail="Ongoing orders-0", producer_epoch=0, **TOPIC)
    rows.add("transaction", detail=f"Prepare{before.removeprefix('Complete')}", producer_epoch=epoch, **TOPIC)
    rows.add("transaction", detail=before, producer_epoch=epoch, **TOPIC)
    for detail, own_epoch, after_ms in steps:
        rows.add("transaction", after_ms, detail=detail, producer_epoch=epoch + own_epoch, **TOPIC)
    return rows


def told(rows: History) -> list[tuple[str, str]]:
    return [(each.confidence, each.summary) for each in found_in(rows.rows, fenced_producers.find)]


def test_a_transaction_that_another_producer_ended() -> None:
    said = "another one began with its id, as producer 7 in epoch 2, 150 ms after it had written"
    (found,) = told(states(*TAKEN))
    assert found == ("possible", f"a producer of transactional id payments may have been fenced: {said}")


@pytest.mark.parametrize(
    "rows",
    [
        states(("Ongoing", 0, 0), ("PrepareAbort", 0, 150), ("CompleteAbort", 0, 2), ("Empty", 1, 100)),
        states(
            ("Ongoing", 0, 0), ("PrepareAbort", 1, 60 * SECOND), ("CompleteAbort", 1, 2), ("Empty", 2, 100)
        ),
        states(
            ("Ongoing", 0, 0), ("PrepareAbort", 1, 150), ("CompleteAbort", 1, 2), ("Empty", 2, 9 * SECOND)
        ),
        states(("Ongoing", 0, 0), ("PrepareCommit", 0, 150), ("CompleteCommit", 0, 2), ("Empty", 1, 100)),
        states(*TAKEN, epoch=1),
        states(*TAKEN).add(
            "transaction", detail="initialized", client="a", **{**TOPIC, "source": "client-log"}
        ),
    ],
    ids=[
        *("its own abort", "a timeout", "another start", "a commit", "transactions of version 2"),
        "a client that was not refused",
    ],
)
def test_what_may_be_something_else(rows: History) -> None:
    assert told(rows) == []


def test_a_client_that_tells_it_better() -> None:
    client: dict[str, Any] = {**TOPIC, "source": "client-log", "client": "a", "producer_id": None}
    (found,) = told(states(*TAKEN).refused("PRODUCER_FENCED", **client))
    assert found == ("likely", "producer a was fenced")


CLIENT: dict[str, Any] = {**TOPIC, "source": "client-log", "client": "a", "producer_id": None}
OF_TIME = ": its transaction with transactional id payments had timed out, and was aborted"
BEGUN: dict[str, Any] = {**TOPIC, "detail": "initialized"}


def timed_out(*, before: bool) -> History:
    """A transaction that was aborted in the next epoch, and another producer that began with its id."""
    rows = History("broker-log").add("transaction", **BEGUN, producer_epoch=0)
    if before:
        rows.add("transaction", **BEGUN, producer_epoch=1)
    rows.add("transaction", detail=TIMED_OUT, **TOPIC)
    if not before:
        rows.add("transaction", **BEGUN, producer_epoch=2)
    return rows.refused("INVALID_PRODUCER_EPOCH", **CLIENT)


def test_a_transaction_that_had_timed_out_is_told_if_its_application_was_told() -> None:
    """Whoever begins after the abort took over, as Streams' threads do from themselves: that is no other
    one."""
    assert told(timed_out(before=False)) == []
    given = {**CLIENT, "transactional_id": None}
    found = told(timed_out(before=False).refused("INVALID_PRODUCER_EPOCH", detail=GIVEN, **given))
    assert [sure for sure, what in found if what.endswith(OF_TIME)] == ["certain"]


def test_another_producer_that_began_before_the_transaction_timed_out() -> None:
    (found,) = told(timed_out(before=True))
    assert found[0] == "certain"
    assert "another producer had begun with its transactional id payments" in found[1]


def test_a_producer_that_asked_for_the_next_epoch_may_have_lost_its_own() -> None:
    row: dict[str, Any] = {**CLIENT, "transactional_id": None}
    (asked,) = told(History().refused("PRODUCER_FENCED", api="InitProducerId", **row))
    (wrote,) = told(History().refused("PRODUCER_FENCED", api="EndTxn", **row))
    assert (asked[0], wrote[0]) == ("possible", "likely")
    assert asked[1].endswith(" got no new epoch, because its own was too old")
    assert wrote[1].endswith(" was fenced")
