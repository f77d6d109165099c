"""Offsets that go back, and those that may."""

from __future__ import annotations

import pytest

from .rows import DAY, SECOND, History, Row, healthy, searched

Found = dict[str, list[Row]]

FOUND = {
    "as at LinkedIn": History().commit(500).commit(9_000, 30 * DAY).commit(9_500).restore(500),
    "told by two machines": History("dump-log")
    .commit(500)
    .commit(9_000)
    .restore(500, 10 * SECOND, source="client-log")
    .commit(510),
    "a dump from before": History("dump-log")
    .commit(500)
    .commit(9_000)
    .restore(500, 10 * SECOND, source="client-log"),
    "told by clients": History("client-log").commit(500).commit(9_000).restore(500, 10 * SECOND),
    "gone, as clients tell": History("client-log").commit(500).restore(-1),
    "gone": History().commit(500).restore(-1),
    "a tombstone races with a load": History("dump-log")
    .commit(500)
    .add("tombstone", group="billing")
    .restore(-1, 17 * 60 * SECOND, source="client-log"),
    "gone after weeks": History().commit(500).restore(-1, 8 * DAY),
    "overtaken": History().commit(500).position(520).commit(450),
    "late": History().commit(500).commit(450),
}
NONE = {
    "a rebalance": History()
    .commit(500)
    .restore(500)
    .commit(600)
    .restore(600, client="b")
    .commit(700, client="b"),
    "a user's seek": History().commit(500).position(500).position(0).position(40).commit(50),
    "an administrator's reset": History()
    .commit(500)
    .commit(100, generation=None, client="admin")
    .restore(100)
    .commit(150),
    "a group that was deleted": History()
    .commit(500, group="deleted")
    .add("group", group="deleted", detail="Dead", topic=None)
    .restore(-1, group="deleted"),
    "a group that was deleted, as its topic tells": History("dump-log")
    .commit(500, group="forgotten")
    .add("tombstone", group="forgotten", detail="committed offset")
    .add("tombstone", group="forgotten", topic=None, detail="classic group")
    .restore(-1, group="forgotten", source="client-log"),
    "a commit in the offsets topic": History("segment").commit(500).commit(450),
    "a new group": History().restore(-1).commit(10).restore(10),
    "an aborted transaction": History().commit(500, detail="in a transaction").restore(400),
    "a reset": History().commit(500).out_of_range(500).reset(0).commit(100),
    "other partitions and groups": History()
    .commit(500)
    .commit(100, partition=1)
    .commit(200, group="search")
    .commit(300, topic="other"),
    "clocks of two machines": History("dump-log")
    .commit(500)
    .commit(9_000)
    .restore(500, SECOND // 2, source="client-log"),
}


EVERY_DAY = "what real brokers write"


@pytest.fixture(scope="module")
def found() -> Found:
    from mockbroker.pipeline.signatures import rewinds

    return searched(rewinds.find, {**FOUND, **NONE, EVERY_DAY: healthy()})


def test_an_old_offset_is_given_back(found: Found) -> None:
    """The load of the offsets stopped behind one of a month ago."""
    (one,) = found["as at LinkedIn"]
    assert (one.signature, one.confidence, one.group, one.partition) == (
        "offset-rewind",
        "certain",
        "billing",
        0,
    )
    assert "given offset 500" in one.summary
    assert "9000 behind the 9500 that it had committed" in one.summary
    assert f"an older commit, of {30 * DAY + 2 * SECOND} ms before" in one.summary
    assert [each.position for each in one.evidence] == [1, 3, 4]
    assert one.evidence[-1].text == "restore as at LinkedIn/orders-0: offset 500, client a, group billing"
    assert (one.to_ms - one.from_ms, list(one.ids)) == (30 * DAY + 2 * SECOND, ["KAFKA-5600", "KAFKA-20634"])


@pytest.mark.parametrize(
    ("story", "signature", "confidence", "said"),
    [
        ("told by two machines", "offset-rewind", "likely", "clocks of the files may differ"),
        # `kafka-consumer-groups --reset-offsets`, or `--delete-offsets`.
        ("a dump from before", "offset-rewind", "possible", "an operator"),
        ("told by clients", "offset-rewind", "possible", "an operator"),
        ("gone, as clients tell", "offset-lost", "possible", "an operator"),
        ("gone", "offset-lost", "certain", "not a day old"),
        ("a tombstone races with a load", "offset-lost", "possible", "a tombstone followed"),
        ("gone after weeks", "offset-lost", "possible", "may have expired"),
    ],
)
def test_how_sure_it_is(found: Found, story: str, signature: str, confidence: str, said: str) -> None:
    (one,) = found[story]
    assert (one.signature, one.confidence) == (signature, confidence)
    assert said in one.why
    assert ("loaded-offsets" in one.behaviours) is (signature == "offset-lost")


@pytest.mark.parametrize(("story", "confidence"), [("overtaken", "likely"), ("late", "possible")])
def test_a_commit_goes_back(found: Found, story: str, confidence: str) -> None:
    (one,) = found[story]
    assert "50 behind the 500 before" in one.summary
    assert one.confidence == confidence


@pytest.mark.parametrize("story", [*NONE, EVERY_DAY])
def test_what_is_no_rewind(found: Found, story: str) -> None:
    assert found[story] == []


def test_lag() -> None:
    """It jumps when an old offset comes back, and is none of ours when it grows with the log."""
    from mockbroker.pipeline.signatures import lag

    stories = {
        "jumps": History().add("high-watermark", offset=9_600).commit(9_500).restore(500),
        "grows": History()
        .add("high-watermark", offset=600)
        .commit(500)
        .add("high-watermark", offset=90_000)
        .commit(600)
        .restore(600)
        .commit(700),
        "a seek": History().add("high-watermark", offset=9_600).commit(9_500).position(0).commit(10),
    }
    found = searched(lag.find, stories)
    assert ["from 100 to 9100 records behind" in each.summary for each in found["jumps"]] == [True]
    assert found["grows"] == found["a seek"] == []
