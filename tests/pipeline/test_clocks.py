"""Clocks that are minutes or time zones apart: how far is told, and all times are given by one of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mockbroker.pipeline.analysis import Analysis, analyze
from mockbroker.pipeline.clocks import RECORDS, Clock, Told, estimated

from .real_clusters import NEWEST, truth_of, unpacked
from .test_recordings import told_of

MINUTE = 60_000
HOUR = 60 * MINUTE
TIME = re.compile(r"(?m)^(\W?)(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)")
FORMAT = "%Y-%m-%d %H:%M:%S"
ABOUT = re.compile(r"^the clock of (.*?) is (.*?) (ahead of|behind) that of (.*?) \(")
Events = Mapping[str, tuple[int, ...]]


def told(**files: Events) -> list[Told]:
    """By file and event its first and last time."""
    return [
        Told(event, file, times[0], times[-1])
        for file, events in files.items()
        for event, times in events.items()
    ]


def at(*times_ms: int, first: int = 0) -> dict[str, tuple[int, ...]]:
    return {f"event {number}": (time,) for number, time in enumerate(times_ms, first)}


def found(given: list[Told], **whose: str) -> list[tuple[str, int, int, int, str]]:
    names = {each.file: each.file for each in given} | whose
    return [
        (each.name, each.ahead_ms, each.within_ms, each.events, each.other)
        for each in estimated(given, names)
    ]


SERVER = at(1_000, 61_000, 121_000, 181_000)


def test_how_far_a_clock_is_ahead() -> None:
    late = at(1_010 + 7 * MINUTE, 61_030 + 7 * MINUTE, 121_020 + 7 * MINUTE)
    assert found(told(server=SERVER, client=late)) == [("client", 420_020, 10, 3, "server")]
    early = at(1_010 - 7 * MINUTE, 61_030 - 7 * MINUTE, 121_020 - 7 * MINUTE)
    assert found(told(server=SERVER, client=early)) == [("client", -419_980, 10, 3, "server")]


@pytest.mark.parametrize(
    "client",
    [
        at(1_010, 61_030, 121_500),
        at(1_900, 61_030, 122_900),
        at(1_010 + 7 * MINUTE),
        at(1_010 + 7 * MINUTE, 61_030 + 9 * MINUTE, 121_000 - 3 * MINUTE),
        at(1_010 + 7 * MINUTE, 61_030 + 7 * MINUTE, 121_000, 181_000),
        {event: (*times, times[0] + 2 * MINUTE) for event, times in at(420_000, 480_000, 540_000).items()},
        at(1_000 + 24 * HOUR, 61_000 + 24 * HOUR, 121_000 + 24 * HOUR),
        at(1_010 + 7 * MINUTE, 61_030 + 7 * MINUTE, first=9),
    ],
    ids=["the same", "late", "one", "all differ", "half of them", "used again", "another day", "none"],
)
def test_clocks_that_may_be_alike(client: Events) -> None:
    assert found(told(server=SERVER, client=client)) == []


def test_what_is_told_late_does_not_count() -> None:
    """A broker that was down learns of an epoch once it is back."""
    other = {**at(1_005, 61_005, 121_005), "event 3": (181_000 + HOUR,)}
    assert found(told(server=SERVER, other=other)) == []


def test_a_clock_that_is_compared_by_way_of_another() -> None:
    other = at(1_000 + HOUR, 61_000 + HOUR) | at(5_000 + HOUR, 6_000 + HOUR, first=10)
    client = at(5_010, 6_010, first=10)
    given = told(server=SERVER, other=other, client=client)
    assert found(given, server="broker 1") == [("other", HOUR, 1, 2, "broker 1")]


def test_the_records_are_right() -> None:
    given = told(one=SERVER, two=SERVER, records=at(1_000 - 2 * HOUR, 61_000 - 2 * HOUR))
    assert found(given, one="broker 1", two="broker 1", records=RECORDS) == [
        ("broker 1", 2 * HOUR, 1, 2, RECORDS)
    ]


@pytest.mark.parametrize(
    ("ahead_ms", "within_ms", "zone"),
    [
        (2 * HOUR + 300, 20, True),
        (-19_800_000, 1, True),
        (7 * MINUTE, 20, False),
        (2 * HOUR + 5_000, 9, False),
    ],
)
def test_a_time_zone(ahead_ms: int, within_ms: int, *, zone: bool) -> None:
    clock = Clock("client.log", ["client.log"], ahead_ms, within_ms, 3, "broker 1")
    assert clock.is_zone is zone
    assert ("perhaps another time zone" in clock.told) is zone


def test_what_is_said_of_a_clock() -> None:
    clock = Clock("client.log", ["client.log"], -(HOUR + 7 * MINUTE + 1_200), 20, 3, "broker 1")
    assert clock.told == (
        "the clock of client.log is 1 h 7 min 1.2 s behind that of broker 1 (± 0.02 s, by 3 events that both "
        "tell of): its times are given by the other's clock"
    )


def shift(path: Path, seconds: int) -> None:
    def later(found: re.Match[str]) -> str:
        return found[1] + (datetime.strptime(found[2], FORMAT) + timedelta(seconds=seconds)).strftime(FORMAT)

    before = path.read_text()
    path.write_text(TIME.sub(later, before))
    assert path.read_text() != before


def of_recording(
    name: str, seconds: Mapping[str, int], tmp_path: Path
) -> tuple[Analysis, list[tuple[str, ...]]]:
    """What is found in a recording with logs by other clocks, and what is said of these."""
    files = unpacked(NEWEST[name], tmp_path)
    for pattern, each in seconds.items():
        for path in files.glob(pattern):
            shift(path, each)
    found = analyze([files], tmp_path / "out")
    truth = truth_of(NEWEST[name])
    summaries = [each["summary"] for each in found.findings]
    assert found.incidents[0].name == truth["finding"]
    assert [each for each in told_of(truth) if not any(each in told for told in summaries)] == []
    assert [each.told for each in found.symptoms if each.explained_by == []] == []
    said = [ABOUT.match(each.told) for each in found.clocks]
    return found, [(Path(each[1]).name, each[2], each[3], each[4]) for each in said if each]


def near_the_truth(found: Analysis, name: str, did: str) -> bool:
    """Whether the time of an incident is that of the truth, within two seconds."""
    events: list[dict[str, Any]] = truth_of(NEWEST[name])["event"]
    (at_ms, *_) = [each["at_ms"] for each in events if each["did"] == did]
    return bool(abs((found.incidents[0].cause["to_ms"] or 0) - at_ms) <= 2_000)


@pytest.mark.parametrize("seconds", [-420, pytest.param(420, marks=pytest.mark.long)])
def test_a_client_whose_clock_is_minutes_off(seconds: int, tmp_path: Path) -> None:
    found, said = of_recording("producer-fenced", {"clients/java.log": seconds}, tmp_path)
    ((name, told, how, other),) = said
    assert (name, how, other) == ("java.log", "ahead of" if seconds > 0 else "behind", RECORDS)
    assert told == "7 min 0.0 s"
    assert near_the_truth(found, "producer-fenced", "a producer was fenced")


@pytest.mark.long
def test_three_time_zones(tmp_path: Path) -> None:
    hours = {"broker2/*.*": 2 * 3_600, "clients/java.log": -5 * 3_600}
    found, _ = of_recording("cut-off-leader", hours, tmp_path)
    assert [round(each.ahead_ms / 3_600_000) for each in found.clocks] == [-5, 2]
    assert [each.name.rpartition("/")[2] for each in found.clocks] == ["java.log", "broker 2"]
    assert all(each.is_zone for each in found.clocks)
