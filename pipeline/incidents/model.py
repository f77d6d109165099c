"""An incident: a cause, what followed from it, and what it is not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

SCHEMA: Final = 2
"""The version of `incidents.json`."""
CERTAIN: Final = "certain"
CONFIDENCE: Final = (CERTAIN, "likely", "possible")
"""From the most certain on."""
Finding = Mapping[str, Any]
"""A row of `findings.TYPES`."""


@dataclass(frozen=True, slots=True)
class Event:
    """A finding in an incident. `because` is the number of the event that led to it, None for the cause, and
    `link` says why they belong together."""

    finding: Finding
    because: int | None = None
    link: str = ""

    @property
    def time_ms(self) -> int | None:
        """When it was noticed, in Unix milliseconds."""
        name = "from_ms" if self.because is None else "to_ms"
        return cast("int | None", self.finding[name])

    def as_json(self) -> dict[str, Any]:
        finding = {name: value for name, value in self.finding.items() if value is not None}
        return {"time_ms": self.time_ms, "because": self.because, "link": self.link, "finding": finding}


@dataclass(slots=True)
class Incident:
    """`events` are in order of time, except that a cause comes before what it led to. `ruled_out` are
    sentences about other incidents that look alike."""

    events: Sequence[Event]
    story: str
    ruled_out: Sequence[str] = field(default_factory=list)

    @property
    def cause(self) -> Finding:
        return self.events[0].finding

    @property
    def name(self) -> str:
        return str(self.cause["signature"])

    @property
    def confidence(self) -> str:
        """How certain the cause is."""
        return str(self.cause["confidence"])

    @property
    def behaviours(self) -> list[str]:
        """The behaviours of mockbroker that show the same, those of the cause first."""
        named = (name for each in self.events for name in each.finding["behaviours"])
        return list(dict.fromkeys(named))

    @property
    def span_ms(self) -> tuple[int, int] | None:
        """From its first to its last event, in Unix milliseconds."""
        times = [each.time_ms for each in self.events if each.time_ms is not None]
        return (min(times), max(times)) if times else None

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "confidence": self.confidence,
            "story": self.story,
            "behaviours": self.behaviours,
            "ruled_out": list(self.ruled_out),
            "events": [each.as_json() for each in self.events],
        }
