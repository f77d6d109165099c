"""An incident in one sentence."""

from collections.abc import Iterator, Sequence
from typing import Final

from ..findings import SUBJECTS
from ..signatures import signatures
from .model import Event, Finding

_WHO: Final = "{who} "
_MOST: Final = 12
"""The most names in a row."""


def story(events: Sequence[Event]) -> str:
    """The cause, to whom the same happened, and what followed: each group once for what it did."""
    cause, *rest = events
    parts = [str(cause.finding["summary"])]
    same = [_victim(each.finding, cause.finding) for each in rest if each.because is None]
    if same:
        parts.append(f"the same happened to {_listed(same)}")
    parts += _consequences([each.finding for each in rest if each.because is not None])
    return "; ".join(parts)


def _consequences(findings: Sequence[Finding]) -> Iterator[str]:
    stories = {name: story for each in signatures() for name, story in each.stories.items()}
    did: dict[str, dict[str, str]] = {}
    happened: dict[str, None] = {}
    for each in findings:
        story = stories.get(each["signature"], str(each["signature"]))
        if story.startswith(_WHO):
            # The first is kept: findings are in order, and a group's later ones follow from it.
            did.setdefault(story.removeprefix(_WHO), {}).setdefault(_who(each), each["confidence"])
        else:
            happened[story] = None
    yield from happened
    for what, names in did.items():
        known = dict.fromkeys(names.values())
        sure = ", ".join(known) if len(known) == 1 else _by_confidence(names)
        yield f"{_listed(list(names))} {what} ({sure})"


def _by_confidence(names: dict[str, str]) -> str:
    by: dict[str, list[str]] = {}
    for name, confidence in names.items():
        by.setdefault(confidence, []).append(name)
    return "; ".join(f"{_listed(each)}: {confidence}" for confidence, each in by.items())


def _listed(names: Sequence[str]) -> str:
    """`group a, group b and group c` as `groups a, b and c`."""
    unique = list(dict.fromkeys(names))
    kinds = {name.partition(" ")[0] for name in unique}
    if len(unique) == 1:
        return unique[0]
    if len(kinds) > 1:
        return f"{', '.join(unique[:-1])} and {unique[-1]}"
    (kind,) = kinds
    bare = [name.partition(" ")[2] for name in unique]
    if len(bare) > _MOST:
        bare = [*bare[: _MOST - 1], f"{len(bare) - _MOST + 1:,} more"]
    return f"{kind}s {', '.join(bare[:-1])} and {bare[-1]}"


def _victim(finding: Finding, cause: Finding) -> str:
    """To whom the same happened as to the cause: another partition, if it is that of the same group or
    producer, or of none."""
    unnamed = all(finding[key] == cause[key] for key in ("group", "producer_id"))
    if unnamed and finding["topic"] is not None:
        return _place(finding)
    return _who(finding)


def _place(finding: Finding) -> str:
    topic, partition = finding["topic"], finding["partition"]
    return f"partition {topic}-{partition}" if partition is not None else f"topic {topic}"


def _who(finding: Finding) -> str:
    for key, name in SUBJECTS.items():
        if finding[key] is not None:
            return f"{name} {finding[key]}"
    return "a client" if finding["topic"] is None else _place(finding)
