"""What real brokers, clients and tools wrote (`tests/pipeline/recorded/make.py` had them): all agree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mockbroker.pipeline.readers import Reading

from .reading import RECORDED, of_kind, rows, source

RELEASES = ("3.9.2", "4.3.1")
DUMPS = [
    (folder.name, tool)
    for folder in (RECORDED / release for release in RELEASES)
    for tool in sorted({each.name.split("-")[2] for each in folder.glob("dump-log-*")})
]
SEGMENT = "00000000000000000000.log"
LOST_BY_THE_OLD_TEXT = ("leader_epoch", "time_ms", "detail")


def segment(release: str, topic: str) -> list[dict[str, Any]]:
    path = RECORDED / release / f"{topic}-0" / SEGMENT
    assert source(path) == "segment"
    return rows(path)


def without(found: list[dict[str, Any]], *names: str) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name not in names} for row in found]


@pytest.mark.parametrize(("release", "tool"), DUMPS)
@pytest.mark.parametrize("what", ["batches", "records"])
def test_a_dump_tells_the_batches_of_its_segment(release: str, tool: str, what: str) -> None:
    path = RECORDED / release / f"dump-log-{tool}-{what}.txt"
    assert source(path) == "dump-log"
    batches = segment(release, "orders")
    assert len(batches) == 11
    dumped = rows(path)
    assert without(dumped, "detail") == without(batches, "detail")
    if what == "records":  # only records tell which way a transaction ended
        assert [row.get("detail") for row in dumped] == [row.get("detail") for row in batches]
        assert {"transactional, control commit", "transactional, control abort"} <= {
            row.get("detail") for row in dumped
        }


@pytest.mark.parametrize(("release", "tool"), DUMPS)
def test_a_decoded_dump_tells_what_the_segment_tells(release: str, tool: str) -> None:
    for topic, what in (("__consumer_offsets", "offsets"), ("__transaction_state", "transactions")):
        own = segment(release, topic)
        dumped = rows(RECORDED / release / f"dump-log-{tool}-{what}.txt")
        assert [row["kind"] for row in dumped] == [row["kind"] for row in own]
        for kind in ("commit", "group", "tombstone", "transaction"):
            lost: tuple[str, ...] = LOST_BY_THE_OLD_TEXT if kind != "transaction" else ()
            lost += ("producer_id", "producer_epoch") if kind in ("commit", "tombstone") else ()
            assert without(of_kind(dumped, kind), *lost) == without(of_kind(own, kind), *lost)


@pytest.mark.parametrize(
    "path", sorted(RECORDED.glob("*/console-*")), ids=lambda path: path.parent.name + path.name
)
def test_the_console_consumer_tells_what_the_segment_tells(path: Path) -> None:
    reading = Reading()
    assert source(path) == "console-consumer"
    found = rows(path, reading)
    assert not reading.unknown_lines[str(path)]
    topic = "__transaction_state" if "transactions" in path.name else "__consumer_offsets"
    own = segment(path.parent.name, topic)
    kinds = [kind for kind in ("commit", "group", "transaction") if of_kind(found, kind)]
    for kind in kinds:
        lost = ("producer_id", "producer_epoch", "detail") if kind == "commit" else ("detail",)
        told = without(of_kind(found, kind), *lost)  # consumers that came later are in the segment, too
        assert told == without(of_kind(own, kind), *lost)[: len(told)]
    assert kinds


@pytest.mark.parametrize("release", RELEASES)
def test_a_position_that_retention_took(release: str) -> None:
    path = RECORDED / release / "client.log"
    assert source(path) == "client-log"
    found = rows(path)
    who = {"client": "console-consumer", "group": "late", "topic": "short", "partition": 0}
    (restored,), (refused,), (reset,) = (of_kind(found, kind) for kind in ("restore", "refused", "reset"))
    for row in (restored, refused, reset):
        assert who.items() <= row.items()
    assert (restored["offset"], restored["leader_epoch"], restored["current_epoch"]) == (2, 0, 0)
    assert (refused["offset"], refused["error"], refused["leader"]) == (2, "OFFSET_OUT_OF_RANGE", 1)
    assert (reset["from_offset"], reset["offset"] >= 5) == (2, True)
    moved = of_kind(rows(RECORDED / release / "broker1.log"), "log-start")
    wanted = {"topic": "short", "partition": 0, "offset": 5, "broker": 1, "detail": "segment deletion"}
    assert any(wanted.items() <= row.items() for row in moved)


@pytest.mark.parametrize("release", RELEASES)
def test_an_unclean_election_and_the_truncation_after_it(release: str) -> None:
    old_leader = rows(RECORDED / release / "broker2.log")
    orders = [row for row in old_leader if row.get("topic") == "orders"]
    shrunk = next(row for row in of_kind(orders, "in-sync-replicas") if "shrank" in row.get("detail", ""))
    assert (shrunk["replicas"], shrunk["leader"], shrunk["detail"]) == ([2], 2, "shrank from 2,3")
    leaders = [(row["leader"], row["leader_epoch"]) for row in of_kind(orders, "leader")]
    assert (leaders[0], leaders[-1]) == ((2, 0), (3, leaders[-1][1]))
    fetcher, log = of_kind(orders, "truncation")[-2:]
    assert (fetcher["offset"], fetcher["leader_epoch"], fetcher["leader"], fetcher["broker"]) == (15, 0, 3, 2)
    assert (log["offset"], log["broker"]) == (15, 2)
    loaded = of_kind(orders, "log-start")
    assert any(row.get("end_offset") == 20 for row in loaded)
    path = RECORDED / release / "orders-0" / "leader-epoch-checkpoint"
    assert source(path) == "checkpoint"
    epochs = [(row["leader_epoch"], row["offset"]) for row in rows(path)]
    assert epochs[0] == (0, 3)  # where the log begins
    assert epochs[1][1] == 15
