"""Positions that are lost, and why; what was cut off under them; and epochs that nobody knows."""

from __future__ import annotations

from typing import Any

import pytest

from .rows import SECOND, History, Row, searched

Found = dict[str, list[Row]]
EPOCH: dict[str, Any] = {"client": "a", "api": "OffsetForLeaderEpoch", "broker": 1}

RESETS = {
    "retention": History()
    .add("log-start", offset=600)
    .add("high-watermark", offset=900, end_offset=900)
    .out_of_range(500)
    .reset(600),
    "a log that begins at the position": History().add("log-start", offset=500).out_of_range(500).reset(500),
    "a truncation": History()
    .add("high-watermark", offset=400, end_offset=400)
    .out_of_range(500)
    .reset(400, detail="latest")
    .add("truncation", from_offset=450, offset=400, broker=2),
    "a shorter log": History().add("high-watermark", offset=400, end_offset=410).out_of_range(500).reset(0),
    "an undefined epoch": History()
    .restore(500, leader_epoch=3)
    .add("epoch-answer", leader_epoch=3, end_offset=-1, **EPOCH)
    .reset(0, from_offset=500),
    "an undefined epoch, as a client tells": History("client-log")
    .restore(500, leader_epoch=3)
    .add("epoch-answer", leader_epoch=3, end_offset=-1, **EPOCH)
    .reset(0, from_offset=500),
    "an undefined epoch above the log start": History("client-log")
    .restore(500, leader_epoch=3)
    .add("log-start", offset=100, source="broker-log")
    .add("epoch-answer", leader_epoch=3, end_offset=-1, **EPOCH)
    .reset(100, from_offset=500),
    "an epoch that retention removed": History()
    .restore(500, leader_epoch=3)
    .add("log-start", offset=500)
    .add("epoch-answer", leader_epoch=3, end_offset=-1, **EPOCH)
    .reset(500, from_offset=500),
    "logs that parted": History()
    .restore(500, leader_epoch=3)
    .add("epoch-answer", leader_epoch=3, end_offset=450, **EPOCH)
    .reset(450, from_offset=500, detail="truncation detected"),
    "nobody knows": History().out_of_range(500).reset(0),
    "no reset follows": History().add("log-start", offset=600).out_of_range(500).out_of_range(500),
}
NO_RESETS = {
    "a new group": History().restore(-1).reset(0),
    "a user's seek": History().commit(500).reset(0).position(0),
    "normal retention": History()
    .add("log-start", offset=600)
    .position(700)
    .commit(700)
    .restore(700)
    .position(700),
    "an epoch that is known": History()
    .restore(500, leader_epoch=3)
    .add("epoch-answer", leader_epoch=3, end_offset=900, **EPOCH)
    .position(500),
    "a follower out of range": History().out_of_range(500, detail="follower", client=None, group=None),
    "another error": History().refused("NOT_LEADER_OR_FOLLOWER", client="a", api="Fetch", offset=5),
}


@pytest.fixture(scope="module")
def found() -> Found:
    from mockbroker.pipeline.signatures import resets

    return searched(resets.find, {**RESETS, **NO_RESETS})


@pytest.mark.parametrize(
    ("story", "signature", "confidence", "said"),
    [
        ("retention", "reset-to-earliest", "certain", "retention or DeleteRecords"),
        ("a log that begins at the position", "reset-to-earliest", "possible", "don't tell"),
        ("a truncation", "reset-to-latest", "likely", "truncated below"),
        ("a shorter log", "reset-to-earliest", "likely", "ends before the position"),
        ("an undefined epoch", "reset-to-earliest", "certain", "does not know (-1)"),
        ("an undefined epoch, as a client tells", "reset-to-earliest", "possible", "may lead to the same"),
        ("an undefined epoch above the log start", "reset-to-earliest", "likely", "may lead to the same"),
        ("an epoch that retention removed", "reset-to-earliest", "certain", "which retention had removed"),
        ("logs that parted", "set-back", "certain", "no longer in the log"),
        ("nobody knows", "reset-to-earliest", "possible", "don't tell"),
        ("no reset follows", "out-of-range", "certain", "retention or DeleteRecords"),
    ],
)
def test_why(found: Found, story: str, signature: str, confidence: str, said: str) -> None:
    (one,) = found[story]
    assert (one.signature, one.confidence, one.group) == (signature, confidence, "billing")
    assert said in one.why
    assert "lost its position 500" in one.summary


def test_what_it_matches(found: Found) -> None:
    (undefined,) = found["an undefined epoch"]
    assert ("undefined-epoch" in undefined.behaviours, list(undefined.ids)) == (True, ["KAFKA-19902"])
    (short,) = found["a shorter log"]
    assert "it knew no epoch for it" in short.summary
    assert [each.text.split(" ")[0] for each in short.evidence] == ["high-watermark", "refused", "reset"]


@pytest.mark.parametrize("story", NO_RESETS)
def test_what_is_no_lost_position(found: Found, story: str) -> None:
    assert found[story] == []


def cut_off() -> History:
    """KAFKA-19902's lines, as a trace tells them: broker 2 refuses what broker 3 has given out."""
    story = History().add("leader", leader=2, leader_epoch=0).commit(100)
    story.add("leader", leader=3, leader_epoch=1).add("high-watermark", offset=250, end_offset=250).commit(
        250
    )
    story.restore(250, client="b").out_of_range(250, client="b", broker=2).reset(0, client="b")
    return story.add("truncation", from_offset=102, offset=100, broker=2)


def test_truncations() -> None:
    from mockbroker.pipeline.signatures import truncations

    fell = History().add("leader", leader=3, leader_epoch=1).add("high-watermark", offset=150, end_offset=150)
    fell.commit(150).add("leader", leader=2, leader_epoch=2).add("high-watermark", offset=100, end_offset=100)
    again = (
        History().add("leader", leader=3, leader_epoch=4).add("high-watermark", offset=150, end_offset=150)
    )
    again.add("leader", leader=3, leader_epoch=0).add("high-watermark", offset=10, end_offset=10)
    stories = {
        "cut off": cut_off(),
        "fell": fell,
        "made again": again,
        "a follower's tail": History()
        .add("high-watermark", offset=100, end_offset=105)
        .position(100)
        .commit(100)
        .add("truncation", from_offset=105, offset=100, broker=3)
        .add("high-watermark", offset=120, end_offset=120)
        .position(120),
        "a lagging high watermark": History()
        .add("high-watermark", offset=100, end_offset=105)
        .add("leader", leader=3, leader_epoch=1)
        .add("high-watermark", offset=98, end_offset=105),
        "long ago": History()
        .add("truncation", from_offset=105, offset=100, broker=3)
        .out_of_range(500, 3600 * SECOND),
    }
    found = searched(truncations.find, stories)
    (gap,) = found["cut off"]
    assert (gap.signature, gap.confidence, gap.broker) == ("truncation-gap", "certain", 2)
    assert "broker 2 went on as leader, cut off from the others, while broker 3 led already" in gap.summary
    assert "150 above the 100" in gap.summary
    (end,) = found["fell"]
    assert (end.signature, end.confidence) == ("log-end-fell", "certain")
    assert "50 acknowledged records are gone; groups that stood above: billing" in end.summary
    for story in ("made again", "a follower's tail", "a lagging high watermark", "long ago"):
        assert found[story] == []


def test_epochs() -> None:
    from mockbroker.pipeline.signatures import epochs

    stories = {
        "above all": History()
        .add("leader", leader=1, leader_epoch=2)
        .add("epoch-answer", leader_epoch=1, end_offset=-1, **EPOCH),
        "below all": History()
        .add("log-start", offset=600)
        .restore(600)
        .add("epoch-answer", leader_epoch=1, end_offset=-1, **EPOCH),
        "as a client tells": History("client-log").add(
            "epoch-answer", leader_epoch=1, end_offset=-1, **EPOCH
        ),
        "not given": History().add("epoch-answer", leader_epoch=-1, end_offset=-1, **EPOCH),
        "known": History().add("epoch-answer", leader_epoch=1, end_offset=9, **EPOCH),
        "made again": History()
        .add("leader", leader=1, leader_epoch=2)
        .add("leader", leader=1, leader_epoch=0)
        .restore(150, leader_epoch=2),
        "made again, and nobody cares": History()
        .add("leader", leader=1, leader_epoch=2)
        .commit(10, leader_epoch=2)
        .add("leader", leader=1, leader_epoch=0)
        .commit(10, leader_epoch=0),
        "elections": History()
        .add("leader", leader=1, leader_epoch=1)
        .add("leader", leader=2, leader_epoch=2)
        .commit(3),
    }
    found = searched(epochs.find, stories)
    told = {
        name: [(each.signature, each.confidence, list(each.ids)) for each in rows]
        for name, rows in found.items()
    }
    assert told == {
        "above all": [("undefined-epoch", "certain", ["KAFKA-19902"])],
        "as a client tells": [("undefined-epoch", "possible", ["KAFKA-19902"])],
        "below all": [("undefined-epoch", "certain", ["KAFKA-7415"])],
        "not given": [],
        "known": [],
        "made again": [("epoch-regression", "likely", ["KAFKA-12257"])],
        "made again, and nobody cares": [],
        "elections": [],
    }
