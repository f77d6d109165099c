"""Findings that are linked to incidents."""

import json
import random
from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mockbroker.pipeline.incidents import Incident, link
from mockbroker.pipeline.signatures import rules

NAMES = sorted({each for rule in rules() for each in (rule.cause, rule.consequence)})


def finding(signature: str, at_ms: int | None = 0, **other: Any) -> dict[str, Any]:
    return {
        "signature": signature,
        "confidence": "certain",
        "why": "it says so",
        "summary": f"{signature} was seen",
        "behaviours": [],
        "ids": [],
        **dict.fromkeys(("group", "client", "topic", "partition", "producer_id", "broker")),
        "from_ms": at_ms,
        "to_ms": at_ms,
        "evidence": [],
        **other,
    }


def named(incident: Incident) -> list[tuple[str, int | None]]:
    return [(each.finding["signature"], each.because) for each in incident.events]


def orders(signature: str, at_ms: int | None, group: str | None = None, **other: Any) -> dict[str, Any]:
    return finding(signature, at_ms, topic="orders", partition=0, group=group, **other)


def test_what_an_unclean_election_led_to_is_one_story() -> None:
    found = [
        orders("offset-rewind", 4_000, "billing", confidence="possible"),
        orders("set-back", 3_000, "billing"),
        orders("offset-rewind", 5_000, "reports", confidence="possible"),
        orders("unclean-election", 1_000, broker=3),
    ]
    (incident,) = link(found)
    assert named(incident) == [
        ("unclean-election", None),
        ("set-back", 0),
        ("offset-rewind", 1),
        ("offset-rewind", 0),
    ]
    assert incident.story == (
        "unclean-election was seen; groups billing and reports went back "
        "(group billing: certain; group reports: possible)"
    )
    assert incident.span_ms == (1_000, 5_000)


def test_other_partitions_and_other_days_are_other_incidents() -> None:
    found = [
        orders("unclean-election", 1_000),
        finding("set-back", 2_000, topic="orders", partition=1, group="billing"),
        orders("set-back", 3_600_000 * 24, "billing"),
        orders("set-back", -60_000, "billing"),
    ]
    assert sorted(len(each.events) for each in link(found)) == [1, 1, 1, 1]


def test_the_more_that_is_equal_the_closer_the_cause() -> None:
    found = [
        orders("unclean-election", 1_000),
        orders("set-back", 1_500, "reports"),
        orders("set-back", 1_600, "billing"),
        orders("offset-rewind", 1_700, "reports"),
    ]
    (incident,) = link(found)
    assert named(incident)[-1] == ("offset-rewind", 1)


def test_what_happened_to_several_groups_at_once_is_one_incident() -> None:
    found = [
        orders("reset-to-earliest", at, group) for at, group in ((0, "a"), (900, "b"), (70_000_000, "c"))
    ]
    first, later = link(found)
    assert [each.finding["group"] for each in first.events] == ["a", "b"]
    assert first.story == "reset-to-earliest was seen; the same happened to group b"
    assert [each.finding["group"] for each in later.events] == ["c"]


def test_what_befell_many_partitions_at_once_is_one_incident() -> None:
    def at(signature: str, number: int, **other: Any) -> dict[str, Any]:
        return finding(signature, number, topic=f"t{number % 2}", partition=number, **other)

    elected = [at("unclean-election", each, broker=2 + each % 2) for each in range(50)]
    unsure = at("unclean-election", 50, broker=2, confidence="possible")
    expired = [at("offsets-expired", each, group="abc"[each % 3], broker=1) for each in range(50)]
    found = link([*elected, unsure, *expired])
    assert [(each.name, len(each.events)) for each in found] == [
        ("offsets-expired", 50 // 3 + 1),
        ("unclean-election", 50),
        ("offsets-expired", 50 // 3 + 1),
        ("offsets-expired", 50 // 3),
        ("unclean-election", 1),
    ]
    assert found[1].story.endswith(
        "partitions t1-1, t0-2, t1-3, t0-4, t1-5, t0-6, t1-7, t0-8, t1-9, t0-10, t1-11 and 38 more"
    )
    groups = [at("offsets-expired", 7, group=each) for each in "abc"]
    assert len(link([*expired, *groups])) == 1


def test_a_lost_election_of_the_offsets_topic_concerns_all_groups() -> None:
    rewind = orders("offset-rewind", 2_000, "billing")
    internal = finding("unclean-election", 1_000, topic="__consumer_offsets", partition=3)
    assert len(link([internal, rewind])) == 1
    assert len(link([{**internal, "topic": "other"}, rewind])) == 2


def test_certain_incidents_come_first() -> None:
    likely = orders("set-back", 1_000, confidence="likely")
    certain = finding("clock-stepped", 90_000_000, broker=2)
    assert [each.name for each in link([likely, certain])] == ["clock-stepped", "set-back"]


@st.composite
def findings(draw: st.DrawFn) -> list[dict[str, Any]]:
    drawn = st.builds(
        finding,
        st.sampled_from(NAMES),
        st.none() | st.integers(0, 10_000_000),
        topic=st.sampled_from([None, "orders", "__consumer_offsets"]),
        partition=st.sampled_from([None, 0]),
        group=st.sampled_from([None, "a", "b"]),
        broker=st.sampled_from([None, 1]),
        confidence=st.sampled_from(["certain", "likely", "possible"]),
    )
    return draw(st.lists(drawn, max_size=12))


def as_text(incidents: Sequence[Incident]) -> str:
    return json.dumps([each.as_json() for each in incidents])


@given(findings(), st.randoms(use_true_random=False))
def test_each_finding_is_in_one_incident_whatever_their_order(
    found: list[dict[str, Any]], chance: random.Random
) -> None:
    incidents = link(found)
    linked = [each.finding for incident in incidents for each in incident.events]
    assert sorted(map(repr, linked)) == sorted(map(repr, found))
    for incident in incidents:
        for number, event in enumerate(incident.events):
            assert event.because is None or event.because < number
    mixed = list(found)
    chance.shuffle(mixed)
    assert as_text(link(mixed)) == as_text(incidents)
