"""Why leaders changed, for people: the core writes it down, and never reads it."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final
from uuid import UUID

from ..metadata.records import RECOVERING, PartitionChangeRecord

UNCLEAN: Final = "unclean election"


class Reasons:
    """Why the leader or the leader epoch of each partition changed last; one that is as it was created has no
    reason."""

    def __init__(self) -> None:
        self._why = self._asked_by = ""
        self._last: Final[dict[UUID, dict[int, str]]] = {}

    @contextmanager
    def because(self, why: str) -> Iterator[None]:
        """The reason for what is decided meanwhile; within another reason, the inner one counts."""
        before, self._why = self._why, why
        try:
            yield
        finally:
            self._why = before

    @contextmanager
    def asked_by(self, who: str) -> Iterator[None]:
        """Who wants what is decided meanwhile: a client, a fault, an operation."""
        before, self._asked_by = self._asked_by, who
        try:
            yield
        finally:
            self._asked_by = before

    def told(self, why: str) -> str:
        """A reason with who wants it, for what follows from it later."""
        return f"{why}, by {self._asked_by}" if self._asked_by else why

    def note(self, record: PartitionChangeRecord) -> None:
        """A record was written that names a leader."""
        why = self._why
        if record.leader_recovery_state == RECOVERING and why != UNCLEAN:
            why = f"{why}: {UNCLEAN}"
        self._last.setdefault(record.topic_id, {})[record.partition_id] = self.told(why)

    def of(self, topic_id: UUID, index: int) -> str:
        return self._last.get(topic_id, {}).get(index, "")

    def forget(self, topic_ids: Iterable[UUID]) -> None:
        """These topics are gone."""
        for topic_id in topic_ids:
            self._last.pop(topic_id, None)
