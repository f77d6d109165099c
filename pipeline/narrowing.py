"""Narrows what was found to a time, a group or a topic. What is left says what it says without that."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, tzinfo
from typing import Any, Final

from ..nearest import nearest
from .errors import PipelineError
from .times import when

AROUND_MS: Final = 1_800_000
"""How far from a time an incident may be."""
About = Mapping[str, Any]
"""A finding or a symptom: what it is about, and its times."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a report is narrowed to; all of it has to be so. The time is in Unix milliseconds."""

    around_ms: int | None = None
    group: str | None = None
    topic: str | None = None

    def __bool__(self) -> bool:
        return self != EVERYTHING

    def __str__(self) -> str:
        around = "" if self.around_ms is None else f"within half an hour of {when(self.around_ms)} UTC"
        group = "" if self.group is None else f"of group {self.group}"
        topic = "" if self.topic is None else f"of topic {self.topic}"
        return ", ".join(filter(None, (around, group, topic)))

    def fits(self, rows: Iterable[About]) -> bool:
        """Whether some of the rows are about that time, some about the group, and some about the topic."""
        told = list(rows)
        named = (("group", self.group), ("topic", self.topic))
        return self._is_near(told) and all(
            any(each.get(key) == name for each in told) for key, name in named if name is not None
        )

    def _is_near(self, rows: Iterable[About]) -> bool:
        """What has no time may have been then."""
        times = [
            (each["from_ms"], each["to_ms"])
            for each in rows
            if None not in (each.get("from_ms"), each.get("to_ms"))
        ]
        if self.around_ms is None or not times:
            return True
        return any(begun - AROUND_MS <= self.around_ms <= ended + AROUND_MS for begun, ended in times)

    def as_json(self) -> dict[str, Any] | None:
        """None if it is all that was found."""
        return asdict(self) if self else None

    def check(self, groups: Iterable[str], topics: Iterable[str], span_ms: tuple[int, int] | None) -> None:
        """PipelineError if the files know nothing of it; they go over `span_ms`."""
        for kind, name, known in (("group", self.group, set(groups)), ("topic", self.topic, set(topics))):
            if name is not None and name not in known:
                raise PipelineError(f"nothing tells of a {kind} {name!r}{nearest(name, sorted(known))}")
        if self.around_ms is None or span_ms is None:
            return
        first, last = span_ms
        if not first - AROUND_MS <= self.around_ms <= last + AROUND_MS:
            raise PipelineError(
                f"nothing tells of what was around {when(self.around_ms)} UTC: the files go from "
                f"{when(first)} to {when(last)} UTC"
            )


EVERYTHING: Final = Wanted()


def moment(text: str, zone: tzinfo) -> int:
    """Unix milliseconds of a time, which is in `zone` unless it says otherwise. PipelineError."""
    try:
        found = datetime.fromisoformat(text)
        zoned = found if found.tzinfo is not None else found.replace(tzinfo=zone)
        return round(zoned.timestamp() * 1000)
    except (ValueError, OverflowError):
        raise PipelineError(
            f"{text!r} is not a time: give one such as 2026-03-01T12:30 or …T12:30Z"
        ) from None


def kept(
    wanted: Wanted, incidents: Sequence[Sequence[About]], symptoms: Sequence[tuple[About, Sequence[int]]]
) -> Iterator[int]:
    """The numbers of the incidents that fit, by their findings and by the symptoms that they explain; each
    symptom comes with the numbers of the incidents that explain it."""
    explained: dict[int, list[About]] = {}
    for about, numbers in symptoms:
        for number in numbers:
            explained.setdefault(number, []).append(about)
    for number, findings in enumerate(incidents):
        if wanted.fits([*findings, *explained.get(number, ())]):
            yield number
