"""A page that is given summaries knows the state as well as one that is given all events."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any
from unittest import mock

from hypothesis import given, settings
from hypothesis import strategies as st

from mockbroker.control import latest
from mockbroker.control.latest import Latest
from mockbroker.trace import Answer, Event, Keyframe, Request, Trace
from mockbroker.trace.as_json import as_json
from mockbroker.trace.events import Leader
from mockbroker.trace.files import event
from mockbroker.trace.kept import values_of
from tests.driving.cluster import a_cluster, create
from tests.driving.faulty import FaultyDriver
from tests.properties import examples
from tests.trace.test_details import folded


class Busy(FaultyDriver):
    """Much happens to topic `t`: records, other leaders, another topic that comes and goes."""

    def __init__(self) -> None:
        cluster = a_cluster(brokers=3)
        create(cluster, "t", 2, 3)
        self.trace = Trace(cluster)
        self.begin(cluster, self.trace)
        self.trace.start()

    def happen(self, rounds: int) -> list[Event]:
        for number in range(rounds):
            self.produce(partition=number % 2, correlation_id=number)
            if number % 5 == 0:
                self.cluster.topics["t"].partitions[0].lead(1 + number // 5 % 3)
            if number % 9 == 4:
                create(self.cluster, f"other-{number}", 1, 2)
            if number % 9 == 8:
                self.cluster.delete_topics([self.cluster.topics[f"other-{number - 4}"]])
        return self.trace.whole()


@functools.cache
def happened() -> list[Event]:
    found = Busy().happen(300)
    assert sum(isinstance(each, Keyframe) for each in found) > 1
    # As they are in files, where there are no tuples.
    return [event(json.loads(as_json(each))) for each in found]


def told(cuts: list[int]) -> Iterator[list[Event]]:
    """All events up to the first cut, then a summary up to each of the others."""
    taken, place, every = Latest(), 0, happened()
    yield every[: cuts[0]]
    for begins, ends in pairwise(cuts):
        taken(values_of([*every[place:ends]]))
        place = max(place, ends)
        summary = taken.after(every[begins - 1].number)
        assert summary is taken.after(every[begins - 1].number)
        lines = b"".join(summary)
        assert b"".join(summary) == lines
        yield [event(json.loads(line)) for line in lines.splitlines()]


def from_keyframe(found: list[Event]) -> list[Event]:
    """A page that has missed something begins anew there."""
    last = max(place for place, each in enumerate(found) if isinstance(each, Keyframe))
    return found[last:]


def state(found: list[Event]) -> Any:
    """After the last of them, as in a file."""
    return json.loads(json.dumps(sorted(folded(from_keyframe(found)).items())))


@given(st.sets(st.floats(0, 1), min_size=2, max_size=5), st.sampled_from([1, 10]))
@settings(max_examples=examples(40), deadline=None)
def test_a_summary_tells_the_state(shares: set[float], keyframes: int) -> None:
    """With each keyframe, and without most of them."""
    cuts = sorted(1 + int(share * (len(happened()) - 1)) for share in shares)
    with mock.patch.object(latest, "KEYFRAMES", keyframes):
        found = [each for part in told(cuts) for each in part]
    assert [each.number for each in found] == sorted({each.number for each in found})
    assert state(found) == state(happened()[: cuts[-1]])


def test_a_summary_is_short_and_has_whole_exchanges() -> None:
    every = happened()
    _, summary = told([1, len(every)])
    assert len(summary) < len(from_keyframe(every)) / 2
    asked, answered = [
        {each.correlation_id for each in summary if isinstance(each, kind)} for kind in (Request, Answer)
    ]
    assert len(asked) == 1
    assert asked == answered


def test_what_is_told_one_by_one_outlives_a_keyframe() -> None:
    """A page that comes a little later has not missed that a leader moved before it."""
    every = happened()
    keyframe = [place for place, each in enumerate(every) if isinstance(each, Keyframe)][1]
    moved = [each.number for each in every[:keyframe] if isinstance(each, Leader) and each.leader_epoch]
    with mock.patch.object(latest, "KEYFRAMES", 1):
        _, summary = told([1, keyframe + 1])
    numbers = {each.number for each in summary}
    assert moved
    assert numbers >= {*moved, every[keyframe].number}
