"""What the controller knows: the newest image, and from which brokers it hears nothing."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final
from uuid import UUID

from ..environment import Environment
from ..java_hash import java_hash
from ..metadata.image import MetadataImage, TopicImage
from ..metadata.log import MetadataLog
from ..metadata.records import RECOVERING, PartitionChangeRecord, Record
from .timeline_map import in_table_order
from .topic_names import Colliding

Publish = Callable[[Sequence[Record]], None]
UNCLEAN: Final = "unclean election"


class Reasons:
    """Why the leader or the leader epoch of each partition changed last, for people: the core never reads it.
    One that is as it was created has no reason."""

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


class ControllerState:
    """The log that the controller writes to. `publish` is called with records that were written together."""

    def __init__(self, environment: Environment, metadata: MetadataLog, publish: Publish) -> None:
        self.environment: Final = environment
        self.metadata: Final = metadata
        self.silent: Final[set[int]] = set()
        """Brokers from which it no longer hears: it elects none of them, even while their sessions last."""
        self.colliding_names: Final = Colliding()
        self.reasons: Final = Reasons()
        self.unclean_elections = 0
        """How many there have been (`TopicDelta.updateElectionStats`)."""
        self._publish = publish

    @property
    def image(self) -> MetadataImage:
        """The cluster after the last record."""
        return self.metadata.image

    def write(self, *records: Record) -> None:
        """Writes metadata records, which brokers learn of once all are written."""
        now_ms = self.environment.now_ms
        for record in records:
            self.metadata.write(record, now_ms)
            if isinstance(record, PartitionChangeRecord) and record.leader is not None:
                self.unclean_elections += record.leader_recovery_state == RECOVERING
                self.reasons.note(record)
        self._publish(records)

    def is_fenced(self, broker: int) -> bool:
        """Whether the controller considers a broker gone, or has forgotten it."""
        return self.metadata.image.is_fenced(broker)

    def is_registered(self, broker: int) -> bool:
        """Whether the controller knows a broker, be it fenced or not."""
        return broker in self.metadata.image.brokers

    def may_lead(self, broker: int) -> bool:
        """Whether a broker can be elected, and learn of that."""
        return broker not in self.silent and not self.is_fenced(broker)

    # -- the order of its hash tables

    def topic_order(self) -> list[TopicImage]:
        """All topics, in the order in which the controller iterates over them."""
        topics = self.image.topics
        return [topics[name] for name in in_table_order(topics, self.image.most_topics, java_hash)]

    def partition_order(self, topic_id: UUID) -> list[int]:
        """The partitions of a topic, in the order in which the controller iterates over them."""
        topic = self.image.topic_ids[topic_id]
        return in_table_order(range(len(topic.partitions)), topic.most_partitions, int)
