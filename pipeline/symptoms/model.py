"""A symptom: what a user or an operator would notice, whatever caused it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..ledgers import SUBJECT

Place = tuple[str, int, str]
"""File, position and kind of a row."""


@dataclass(slots=True)
class Symptom:
    """`told` says what happened; `offsets` go from the first up to and without the second, and `count` says
    how many records, times or members it is about. Times are Unix milliseconds.

    `evidence` are the rows that show it, the extract of its ledger. `explained_by` are the numbers of the
    incidents, from 0, that explain it. If there are none, `looked` says which files were read that would tell
    more, `missing` which were not, and `before` what
    administrators had done.
    """

    name: str
    told: str
    rows: tuple[Place, ...]
    group: str | None = None
    client: str | None = None
    topic: str | None = None
    partition: int | None = None
    producer_id: int | None = None
    transactional_id: str | None = None
    broker: int | None = None
    offset: int | None = None
    end_offset: int | None = None
    count: int | None = None
    from_ms: int | None = None
    to_ms: int | None = None
    evidence: Sequence[Mapping[str, Any]] = ()
    explained_by: list[int] = field(default_factory=list)
    looked: Sequence[str] = ()
    missing: Sequence[str] = ()
    before: Sequence[str] = ()

    @property
    def who(self) -> str:
        """The subject, in one word or two."""
        if self.group is not None:
            return f"group {self.group}"
        if self.transactional_id is not None:
            return f"transactional id {self.transactional_id}"
        if self.producer_id is not None:
            return f"producer {self.producer_id}"
        if self.client is not None:
            return f"client {self.client}"
        if self.broker is not None:
            return f"broker {self.broker}"
        return self.at

    @property
    def at(self) -> str:
        """The partition."""
        return self.topic or "" if self.partition is None else f"{self.topic}-{self.partition}"

    def as_json(self) -> dict[str, Any]:
        names = (*SUBJECT, "offset", "end_offset", "count", "from_ms", "to_ms")
        about = {name: value for name in names if (value := getattr(self, name)) is not None}
        return {
            "name": self.name,
            "told": self.told,
            **about,
            "explained_by": self.explained_by,
            "looked": list(self.looked),
            "missing": list(self.missing),
            "before": list(self.before),
            "evidence": list(self.evidence),
        }
