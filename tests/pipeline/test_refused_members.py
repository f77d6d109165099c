"""Members of classic groups that their coordinator does not let in, or puts out."""

from __future__ import annotations

import pytest

from mockbroker.pipeline.signatures import refused_members

from .rows import History, found_in
from .short_histories import joined_as_another, not_let_in


@pytest.mark.parametrize(
    ("history", "signature", "confidence", "told"),
    [
        (
            not_let_in("GROUP_MAX_SIZE_REACHED"),
            "group-full",
            "certain",
            "could not join group billing, which",
        ),
        (not_let_in("INCONSISTENT_GROUP_PROTOCOL"), "assignors-differ", "likely", "no assignor in common"),
        (not_let_in("FENCED_INSTANCE_ID"), "instance-id-shared", "likely", "one was refused"),
        (
            joined_as_another("shop, 0"),
            "instance-id-shared",
            "certain",
            "group.instance.id, shop, 0: one was",
        ),
    ],
)
def test_what_is_found(history: History, signature: str, confidence: str, told: str) -> None:
    (one,) = found_in(history.rows, refused_members.find)
    assert (one.signature, one.confidence, one.group) == (signature, confidence, "billing")
    assert told in one.summary


def test_a_client_and_the_coordinator_tell_the_same() -> None:
    rows = [*joined_as_another().rows, *not_let_in("FENCED_INSTANCE_ID").rows]
    (one,) = found_in(rows, refused_members.find)
    assert one.confidence == "certain"


def test_other_refusals_and_a_static_member_that_is_started_again() -> None:
    replaced, fenced = joined_as_another().rows
    rows = [replaced, *not_let_in("REBALANCE_IN_PROGRESS").rows]
    assert found_in(rows, refused_members.find) == []
    assert found_in([fenced], refused_members.find) == []
