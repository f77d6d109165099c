"""What an incident is not: said only if the files that would tell were read, and go over its time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from mockbroker.pipeline.incidents import Evidence, link, rule_out
from mockbroker.pipeline.readers.files import LogSpan
from mockbroker.pipeline.signatures import by_name

from .test_linking import finding

BEGAN, NOTICED = 100_000, 160_000
RESET = finding(
    "reset-to-earliest",
    BEGAN,
    to_ms=NOTICED,
    topic="orders",
    partition=0,
    group="billing",
    confidence="likely",
)
WHOLE = 90_000, 170_000


def row(kind: str, file: str, source: str = "broker-log", **values: Any) -> dict[str, Any]:
    about = dict.fromkeys(("broker", "leader", "replicas", "group", "topic", "partition"))
    return {
        "kind": kind,
        "source": source,
        "file": file,
        **about,
        "from_ms": WHOLE[0],
        "to_ms": WHOLE[1],
        "bad": False,
        **values,
    }


def orders(kind: str, file: str, source: str = "broker-log", **values: Any) -> dict[str, Any]:
    return row(kind, file, source, **{"topic": "orders", "partition": 0, **values})


def rows() -> list[dict[str, Any]]:
    return [
        orders("leader", "controller.log", leader=1),
        orders("in-sync-replicas", "server-1.log", broker=1, replicas="1,2"),
        orders("log", "server-2.log", broker=2),
        row("restore", "consumer.log", "client-log", group="billing"),
        row("commit", "offsets", "segment", group="billing"),
        orders("append", "orders", "segment"),
        row("load", "server-1.log", broker=1, topic="__consumer_offsets", partition=3),
    ]


def spans() -> dict[str, LogSpan]:
    return {
        "controller.log": LogSpan(*WHOLE, {"controller"}),
        "server-1.log": LogSpan(*WHOLE, {"broker"}),
        "server-2.log": LogSpan(*WHOLE, {"broker"}),
        "consumer.log": LogSpan(*WHOLE, {"java"}),
    }


def told(cause: dict[str, Any], rows: Sequence[dict[str, Any]], spans: dict[str, LogSpan]) -> list[str]:
    (incident,) = link([cause])
    return list(rule_out(incident, [cause], Evidence(rows, spans)))


ALL = [
    "not an unclean election: the log of a controller",
    "not a leader that was cut off: the logs of the brokers that had orders-0",
    "not a truncation: the logs of the brokers that had orders-0",
    "not a topic that was created anew: the log of a controller",
    "not an epoch that nobody knows: the log of a Java client of group billing",
    "not a commit above the log end: the offsets topic with group billing",
]


def test_all_files() -> None:
    assert [each.partition(", from ")[0] for each in told(RESET, rows(), spans())] == ALL
    assert told(RESET, rows(), spans())[0].endswith(", from 1970-01-01 00:01:30 to 00:02:50, tells of none")


@pytest.mark.parametrize("left_out", ["controller.log", "server-1.log", "server-2.log", "consumer.log"])
@pytest.mark.parametrize("why", ["missing", "begins too late", "ends too soon", "of another"])
def test_a_file_that_could_not_tell(left_out: str, why: str) -> None:
    given, known = rows(), spans()
    match why:
        case "missing":
            given = [each for each in given if each["file"] != left_out]
            del known[left_out]
            if left_out == "server-2.log":
                assert any("2" in (each["replicas"] or "") for each in given)
        case "begins too late":
            known[left_out].from_ms = BEGAN + 1
        case "ends too soon":
            known[left_out].to_ms = NOTICED - 1
        case "of another":
            known[left_out].of = set()
    needs = {"controller.log": "controller", "consumer.log": "Java client"}.get(left_out, "brokers")
    ruled_out = [each for each in told(RESET, given, known) if each.startswith("not ")]
    assert [each.partition(", from ")[0] for each in ruled_out] == [each for each in ALL if needs not in each]
    others = [each for each in told(RESET, given, known) if not each.startswith("not ")]
    assert len(others) == len(ALL) - len(ruled_out)
    assert all(each.startswith("perhaps ") and "could not be looked for" in each for each in others)
    assert told({**RESET, "confidence": "certain"}, given, known) == ruled_out


def test_files_of_one_log() -> None:
    """They are one if nothing can be in between."""
    known = spans()
    known["controller.log"].to_ms = BEGAN + 1
    known["controller.log.1"] = LogSpan(BEGAN + 30_000, WHOLE[1], {"controller"})
    assert told(RESET, rows(), known)[0].startswith("not ")
    known["controller.log.1"].from_ms = known["controller.log"].to_ms + 60_001
    known["controller.log.1"].to_ms += 60_000
    assert told({**RESET, "to_ms": NOTICED + 60_000}, rows(), known)[0].startswith("perhaps ")


def test_what_was_seen_though_nothing_was_made_of_it() -> None:
    bad = orders("truncation", "server-1.log", broker=1, bad=True)
    ruled_out = [each.partition(", from ")[0] for each in told(RESET, [*rows(), bad], spans())]
    assert ruled_out == [each for each in ALL if "truncation" not in each]


def test_a_trace_has_all_but_the_offsets_topic() -> None:
    trace = [row("commit", "trace.jsonl", "trace", group="billing")]
    assert [each.split()[0] for each in told(RESET, trace, {})] == ["not"] * (len(ALL) - 1) + ["perhaps"]
    short = [{**trace[0], "to_ms": NOTICED - 1}]
    assert [each[:8] for each in told(RESET, short, {})] == ["perhaps "] * len(ALL)


@pytest.mark.parametrize("signature", [name for name, each in by_name().items() if each.alike])
def test_without_files_nothing_is_ruled_out(signature: str) -> None:
    cause = {**RESET, "signature": signature}
    assert not any(each.startswith("not ") for each in told(cause, [], {}))
    assert any(each.startswith("not ") for each in told(cause, rows(), spans()))


def test_without_a_time_nothing_is_ruled_out() -> None:
    cause = {**RESET, "from_ms": None, "to_ms": None}
    perhaps = told(cause, rows(), spans())
    assert [each.split()[0] for each in perhaps] == ["perhaps"] * len(ALL)
