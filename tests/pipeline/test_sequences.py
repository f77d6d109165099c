"""Errors about sequences, followers that stop, and topics that are read again."""

from __future__ import annotations

from typing import Any

from .rows import SECOND, History, searched

UNKNOWN = "UNKNOWN_PRODUCER_ID"
OUT_OF_ORDER = "OUT_OF_ORDER_SEQUENCE_NUMBER"


def producer(sequence: int) -> dict[str, Any]:
    return {"producer_id": 7, "producer_epoch": 0, "sequence": sequence, "client": "app", "broker": 1}


def appended(story: History, count: int, first: int = 0) -> History:
    for number in range(first, first + count):
        story.add("append", offset=number, end_offset=number + 1, **producer(number))
    return story


def overtaken(story: History) -> History:
    """The first batch of the partition is the producer's second one."""
    return story.add("append", offset=0, end_offset=1, **producer(1))


def refused(story: History, error: str, sequence: int) -> History:
    return story.refused(error, api="Produce", **producer(sequence))


def test_sequences() -> None:
    from mockbroker.pipeline.signatures import sequences

    retention = appended(History(), 3).add("log-start", offset=3)
    stories = {
        "retention": refused(refused(retention, UNKNOWN, 3), UNKNOWN, 3),
        "as 0.11 said it": refused(appended(History(), 3).add("log-start", offset=3), OUT_OF_ORDER, 3),
        "loss": refused(appended(History(), 3).add("leader", leader=2, leader_epoch=1), OUT_OF_ORDER, 3),
        "the first is lost": refused(appended(History(), 1), UNKNOWN, 1),
        "overtaken": refused(refused(overtaken(History()), OUT_OF_ORDER, 0), OUT_OF_ORDER, 0),
        "overtaken, as a segment and a broker's log tell": refused(
            overtaken(History("segment")), OUT_OF_ORDER, 0
        ),
        "files that begin later": refused(appended(History(), 2, first=1), OUT_OF_ORDER, 0),
        "a duplicate that is forgotten": refused(appended(History(), 9), OUT_OF_ORDER, 0),
        "a log that tells little": refused(History("broker-log"), OUT_OF_ORDER, 3),
        "retried": appended(refused(appended(History(), 2), OUT_OF_ORDER, 3), 2, first=2),
        "retried, as a segment and a broker's log tell": refused(
            appended(appended(History("segment"), 2), 1, first=3), OUT_OF_ORDER, 3
        ),
        "all is well": appended(History(), 5).add("log-start", offset=4),
        "another error": refused(appended(History(), 2), "NOT_LEADER_OR_FOLLOWER", 2),
    }
    found = searched(sequences.find, stories)
    told = {name: [(each.signature, each.confidence) for each in rows] for name, rows in found.items()}
    assert told == {
        "retention": [("spurious-sequence-error", "certain")],
        "as 0.11 said it": [("spurious-sequence-error", "certain")],
        "loss": [("lost-records", "likely")],
        "the first is lost": [("lost-records", "likely")],
        "overtaken": [("overtaken-batch", "certain")],
        "overtaken, as a segment and a broker's log tell": [("overtaken-batch", "likely")],
        "files that begin later": [("lost-records", "possible")],
        "a duplicate that is forgotten": [],
        "a log that tells little": [("sequence-error", "possible")],
        "retried": [],
        "retried, as a segment and a broker's log tell": [],
        "all is well": [],
        "another error": [],
    }
    (spurious,) = found["retention"]
    assert "at sequence 3 (2 times), after offset 2 was acknowledged; the log starts at 3" in spurious.summary
    assert {"producer-state-retention", "unknown-producer"} <= set(spurious.behaviours)
    assert spurious.producer_id == 7


def test_followers() -> None:
    from mockbroker.pipeline.signatures import followers

    past = "cannot increment the log start offset to 116753: it is larger than the high watermark 116619"
    stories = {
        "past the end": History()
        .add("log-start", offset=116753)
        .add("follower-failure", 70, detail=past, broker=2),
        "with its thread": History().add(
            "follower-failure", detail=f"its fetcher died with x-0: {past}", broker=2
        ),
        "for another reason": History().add("follower-failure", detail="on request", broker=2),
        "log starts move": History().add("log-start", offset=5).add("log-start", offset=9),
    }
    found = searched(followers.find, stories)
    (one,) = found["past the end"]
    assert (one.signature, one.confidence, one.broker) == ("log-start-past-log-end", "certain", 2)
    assert "log start offset 116753, past its own high watermark 116619" in one.summary
    assert {"fetch-log-start-offset", "follower-log-start-offset"} <= set(one.behaviours)
    assert [each.position for each in one.evidence] == [1, 2]
    assert [each.signature for each in found["for another reason"]] == ["follower-failure"]
    assert found["log starts move"] == []


def fetched(story: History, start: int, end: int, step: int = 100) -> History:
    for offset in range(start, end, step):
        story.add("fetched", 10, offset=offset, end_offset=offset + step, client="a", group="billing")
    return story


def test_outflux() -> None:
    from mockbroker.pipeline.signatures import outflux

    written: dict[str, Any] = {"client": "app", "producer_id": None}
    first = fetched(History().add("append", offset=0, end_offset=1000, **written), 0, 1000)
    sought = fetched(History().add("append", offset=0, end_offset=1000, **written), 0, 1000)
    both = fetched(History().add("append", offset=0, end_offset=1000, **written), 0, 1000)
    ahead = fetched(History().add("append", offset=0, end_offset=1000, **written), 0, 1000)
    stories = {
        "read again": fetched(first.commit(1000).restore(0, 120 * SECOND), 0, 1000),
        "fetched ahead, then read again": fetched(
            fetched(both.commit(500).restore(500, 120 * SECOND), 500, 1000).commit(1000).restore(0), 0, 1000
        ),
        "fetched ahead": fetched(ahead.commit(500).restore(500, 120 * SECOND), 500, 1000),
        "a user's seek": fetched(sought.position(0, 120 * SECOND), 0, 1000),
        "catching up": fetched(
            History().add("append", offset=0, end_offset=10, **written).restore(0), 0, 1000
        ),
    }
    found = searched(outflux.find, stories)
    (after_both,) = found["fetched ahead, then read again"]
    assert "1500 it had read before" in after_both.summary
    (one,) = found["read again"]
    assert "billing read 1000 records" in one.summary
    assert "in which 0 were written; 1000 it had read before" in one.summary
    assert found["a user's seek"] == found["catching up"] == found["fetched ahead"] == []
