"""What is noted of a group and a partition, row by row."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockbroker.pipeline.ledgers.group_partitions import LEDGER

from .folding import MINUTE, OFFSETS, Rows, noted, told

ABOUT = {"group": "billing", "topic": "orders", "partition": 0}


def client(name: str = "a") -> Rows:
    return Rows("client.log", "client-log", client=name, **ABOUT)


def offsets(broker: int = 1) -> Rows:
    return Rows(f"broker{broker}/{OFFSETS}", "segment", **ABOUT)


def test_a_reset_forward_skips_records() -> None:
    rows = client().add("restore", offset=300).add("reset", offset=1000, from_offset=300)
    assert told(LEDGER, rows) == [("records-skipped", 300, 1000)]


def test_a_reset_backward_sets_the_client_back() -> None:
    rows = client().add("position", offset=900).add("reset", offset=100, from_offset=900)
    assert told(LEDGER, rows) == [("position-back", 100, 900)]


def test_the_refused_position_is_the_old_one() -> None:
    rows = client().add("refused", error="OFFSET_OUT_OF_RANGE", offset=300).add("reset", offset=1000)
    assert told(LEDGER, rows) == [("records-skipped", 300, 1000)]


def test_a_position_that_stays_out_of_range() -> None:
    rows = client().add("refused", error="OFFSET_OUT_OF_RANGE", offset=300)
    assert told(LEDGER, rows) == [("out-of-range", 300, None)]
    assert told(LEDGER, rows.add("position", offset=900)) == []


def test_a_new_group_skips_nothing() -> None:
    assert told(LEDGER, client().add("restore", offset=-1).add("reset", offset=700)) == []


def test_an_offset_that_expired_and_what_was_skipped_then() -> None:
    log = offsets().add("commit", offset=100).add("tombstone", detail="committed offset")
    rows = client().add("restore", MINUTE, offset=-1).add("reset", offset=800)
    missing, skipped = noted(LEDGER, log, rows)
    assert (missing.what, missing.offset) == ("commit-missing", 100)
    assert [kind for _, _, kind in missing.rows] == ["commit", "tombstone", "restore"]
    assert (skipped.what, skipped.offset, skipped.end_offset) == ("records-skipped", 100, 800)


def test_an_older_offset_is_given() -> None:
    log = offsets().add("commit", offset=100).add("commit", offset=500)
    rows = client().add("restore", 2 * MINUTE, offset=100).add("restore", offset=100)
    assert told(LEDGER, log, rows) == [("position-back", 100, 500)]


def test_clocks_of_two_machines_may_differ_by_a_minute() -> None:
    """What seems older than a commit may have been read before it."""
    log = offsets().add("commit", offset=100).add("commit", offset=500).add("commit", 30_000, offset=900)
    assert told(LEDGER, log, client().add("restore", 30_000, offset=100)) == []
    assert told(LEDGER, log, client().add("restore", 30_000, offset=-1)) == []
    late = client().add("restore", 65_000, offset=100)
    assert told(LEDGER, log, late) == [("position-back", 100, 500)]


def test_a_commit_that_goes_back_for_good() -> None:
    log = offsets().add("commit", offset=500).add("commit", offset=100).add("commit", MINUTE, offset=200)
    (found,) = noted(LEDGER, log)
    assert (found.what, found.offset, found.end_offset, len(found.rows)) == ("commit-back", 100, 500, 3)


def test_a_commit_that_was_overtaken() -> None:
    log = offsets().add("commit", offset=500).add("commit", offset=490).add("commit", offset=510)
    assert told(LEDGER, log) == []


def test_commits_that_crossed() -> None:
    log = offsets().add("commit", offset=500).add("commit", offset=450).add("commit", offset=480)
    assert told(LEDGER, log) == []
    assert told(LEDGER, log.add("commit", offset=600)) == []


def test_a_client_reads_again_from_a_commit_that_went_back() -> None:
    log = offsets().add("commit", offset=500).add("commit", offset=100).add("commit", MINUTE, offset=900)
    assert told(LEDGER, log, client().add("restore", 3_000, offset=100)) == [("commit-back", 100, 500)]


def test_a_commit_long_after_is_not_overtaken() -> None:
    log = offsets().add("commit", offset=500).add("commit", MINUTE, offset=100).add("commit", offset=600)
    assert told(LEDGER, log) == [("commit-back", 100, 500)]


def test_replicas_tell_the_same_commits() -> None:
    logs = [offsets(broker).add("commit", offset=100).add("commit", offset=200) for broker in (1, 2, 3)]
    assert told(LEDGER, *logs) == []


def test_a_clock_that_was_set_back_changes_no_order() -> None:
    log = offsets().add("commit", offset=100).add("commit", offset=200, after_ms=-MINUTE)
    assert told(LEDGER, log) == []


def test_a_user_seeks() -> None:
    rows = Rows("trace", "trace", client="a", **ABOUT).add("position", offset=500).add("commit", offset=500)
    rows.add("position", offset=10).add("commit", offset=20).add("commit", offset=30)
    assert told(LEDGER, rows) == []


def test_where_a_new_group_began_says_nothing_of_later() -> None:
    rows = client().add("restore", offset=-1).add("reset", 0, offset=0)
    log = offsets().add("commit", offset=1000).add("commit", MINUTE, offset=200)
    assert told(LEDGER, rows, log) == [("commit-back", 200, 1000)]


@pytest.mark.parametrize("kind", ["commit", "tombstone"])
def test_offsets_in_a_transaction_and_deleted_ones_are_not_compared(kind: str) -> None:
    log = offsets().add("commit", offset=500).add(kind, detail="in a transaction", offset=1)
    log.add("commit", offset=600 if kind == "commit" else 3)
    assert told(LEDGER, log) == []


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 20_000)), max_size=12))
def test_each_replica_of_the_offsets_topic_tells_the_same(commits: list[tuple[int, int]]) -> None:
    def log(broker: int) -> Rows:
        rows = offsets(broker)
        for offset, after_ms in commits:
            rows.add("commit", after_ms, offset=offset)
        return rows

    assert sorted(told(LEDGER, *map(log, (1, 2, 3)))) == sorted(3 * told(LEDGER, log(1)))


def trace(*rows: tuple[str, int, int]) -> Rows:
    """By kind, offsets and their ends."""
    found = Rows("trace.jsonl", "trace", **ABOUT)
    for kind, offset, end in rows:
        found.add(kind, offset=offset, end_offset=end if kind == "fetched" else None, client="a")
    return found


def test_records_that_a_group_had_committed_are_given_again() -> None:
    """Those after them were not committed, and so are read again by whoever comes next."""
    rows = trace(("fetched", 0, 100), ("commit", 100, 0), ("fetched", 100, 140), ("restore", 40, 0))
    for offset in (40, 60, 80, 100, 120):
        rows.add("fetched", offset=offset, end_offset=offset + 20, client="b")
    again = [each for each in noted(LEDGER, rows) if each.what == "given-again"]
    assert [(each.offset, each.end_offset, each.group, each.client) for each in again] == [
        (40, 100, "billing", None)
    ]


def test_records_that_are_given_again_in_the_end() -> None:
    rows = trace(("fetched", 0, 100), ("commit", 100, 0), ("commit", 40, 0), ("fetched", 40, 60))
    again = [each for each in noted(LEDGER, rows) if each.what == "given-again"]
    assert [(each.offset, each.end_offset) for each in again] == [(40, 60)]


def test_what_was_not_committed_may_be_read_twice() -> None:
    rows = trace(("fetched", 0, 100), ("commit", 60, 0), ("fetched", 100, 140), ("fetched", 60, 100))
    assert noted(LEDGER, rows) == []
    rows.add("tombstone", detail="committed offset").add("fetched", offset=0, end_offset=50)
    assert noted(LEDGER, rows) == []
