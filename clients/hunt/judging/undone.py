"""What an operator was told is done, or is so."""

from collections.abc import Iterator
from typing import Any, Final

from ..journal import Called, Sent
from ..stage import Outcome
from .violation import Violation

_RETENTION_MS: Final = "604800000"
"""What `retention.ms` is unless somebody sets it."""


def undone(outcome: Outcome) -> Iterator[Violation]:
    """`undone`: a topic was created, got partitions or was deleted, its configuration was changed or its
    records were deleted, and in the end that is not so."""
    calls = [each for each in outcome.journal.of(Called) if "topic" in each.fields]
    for called in calls:
        topic = called.fields["topic"]
        if (
            called.error is None
            and topic not in outcome.deleted
            and (is_ := _is_undone(outcome, called, calls))
        ):
            yield Violation(
                "undone", called.user, f"{called.verb} has returned, and {topic} {is_}", (called.at,)
            )


def _is_undone(outcome: Outcome, called: Called, calls: list[Called]) -> str:
    """What is so instead; empty if it was done, or if another call may have undone it."""
    fields, topic = called.fields, called.fields["topic"]
    there = outcome.partitions.get(topic)
    match called.verb:
        case "create-topic" | "create-partitions" if not _others(called, calls, "delete-topic"):
            return _unless((there or 0) >= fields["partitions"], f"has {there or 0} partitions")
        case "delete-topic" if not _others(called, calls, "create-topic"):
            return _unless(there is None, "is there")
        case "alter-config" if there is not None and not _others(called, calls, "alter-config"):
            value = outcome.configs[topic].get(fields["name"])
            return _unless(value == fields["to"], f"has {value!r}, not {fields['to']!r}")
        case "delete-records":
            start = outcome.log_starts[topic, fields["partition"]]
            return _unless(start >= fields["offset"], f"begins at {start}, not at {fields['offset']}")
    return ""


def _unless(is_done: bool, what: str) -> str:
    return "" if is_done else what


def _others(called: Called, calls: list[Called], verb: str) -> bool:
    """Whether such a call of the topic was made at the same time or later."""
    return any(
        each is not called and each.verb == verb and each.at > called.began
        for each in calls
        if each.fields["topic"] == called.fields["topic"]
    )


def told_otherwise(outcome: Outcome) -> Iterator[Violation]:
    """`told-otherwise`: an operator is told a value that was never set, or an offset where the partition
    never began or ended."""
    calls = [each for each in outcome.journal.of(Called) if "topic" in each.fields]
    for called in calls:
        topic = called.fields["topic"]
        if called.error is not None or topic in outcome.deleted:
            continue
        if called.verb == "describe-config":
            asked = {e.fields["to"] for e in calls if e.verb == "alter-config" and e.fields["topic"] == topic}
            value = called.answer["value"]
            if value not in asked | {_RETENTION_MS}:
                yield _told(called, f"{called.fields['name']} is {value!r}, which nobody has set")
        elif called.verb == "list-offsets":
            offset = called.answer["offset"]
            low, high = _limits(outcome, called, calls)
            if not low <= offset <= high:
                yield _told(called, f"the {called.fields['at']} offset is {offset}, not {low} to {high}")
        elif called.verb == "delete-records" and called.answer:
            low, offset = called.fields["offset"], called.answer["offset"]
            if offset < low:
                yield _told(called, f"it begins at {offset}, when what is before {low} was deleted")


def _told(called: Called, what: str) -> Violation:
    where = called.fields["topic"]
    if "partition" in called.fields:
        where += f"-{called.fields['partition']}"
    return Violation("told-otherwise", called.user, f"of {where}: {what}", (called.at,), called.verb)


def _limits(outcome: Outcome, called: Called, calls: list[Called]) -> tuple[int, int]:
    """Between which offsets a partition began, or ended, while it was asked for."""
    topic, partition = at = called.fields["topic"], called.fields["partition"]
    if called.fields["at"] == "earliest":
        trims = [e for e in calls if e.verb == "delete-records" and _is_of(e, topic, partition)]
        begun = [e.fields["offset"] for e in trims if e.error is None and e.at <= called.began]
        return max(begun, default=0), outcome.log_starts[at]
    sent = [e.told for e in outcome.journal.of(Sent) if (e.topic, e.partition) == at and e.told is not None]
    known = [e.offset + 1 for e in sent if e.offset is not None and e.error is None and e.at <= called.began]
    end = max((e.offset + 1 for e in outcome.logs[at]), default=outcome.log_starts[at])
    return max(known, default=0), max(end, outcome.log_starts[at])


def _is_of(called: Called, topic: str, partition: int) -> bool:
    fields: Any = called.fields
    return bool(fields["topic"] == topic and fields.get("partition") == partition)
