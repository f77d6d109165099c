"""Writes records that are archived to the dead letter topic of their share group
(`ShareGroupDLQStateManager.java`, KIP-1191)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from ..configs import Configs
from ..controller.topic_creation import check_name, place
from ..coordinators.share import settings
from ..environment import Environment
from ..log.validation import BatchError, validate
from ..metadata.image import TopicImage
from ..policies import Policies
from ..policies.share_groups.dead_letters import dead_letters
from ..portions import PORTION
from ..protocol.api_error import ApiError
from ..protocol.batch_writing import batch_of_records, record_of
from ..protocol.record_batch import CONTROL, HEADER_BYTES, field, header_of, spans, stamp
from ..replication.internal_append import append_own, await_replication
from ..replication.partition import Partition
from ..share_partitions.acknowledgement import Letters

if TYPE_CHECKING:
    from ..controller.controller import Controller

_SHARE_FEATURE: Final = "share.version"
_LEVEL: Final = 2
_TAKES: Final = "errors.deadletterqueue.group.enable"
_CREATES: Final = "errors.deadletterqueue.auto.create.topics.enable"
_PREFIX: Final = "errors.deadletterqueue.topic.name.prefix"
_INTERNAL: Final = "__"
_ATTEMPTS: Final = 5
_BACKOFF_MS: Final = 1_000
_TIMEOUT_MS: Final = 30_000
_REJECTED: Final = "Offset rejected by client."
_WORN: Final = "Offset delivery count exceeded the threshold."
_NOTHING: Final = (None, None)
Done = Callable[[], None]
Content = tuple[bytes | None, bytes | None]
"""The key and the value of a record."""


class Home(Protocol):
    """The broker that leads the source, as it is seen from here."""

    id: int
    environment: Environment

    @property
    def policies(self) -> Policies: ...

    @property
    def features(self) -> Mapping[str, int]:
        """The finalized levels of features, as far as this broker knows."""

    @property
    def online(self) -> bool: ...

    def known_topics(self) -> Mapping[str, TopicImage]:
        """The topics that it has learned of, by name."""

    def leader_of(self, topic: str, index: int) -> Partition | None:
        """A partition at its leader; None if that can't be reached."""


class DeadLetters:
    """What one broker writes for share groups. Whatever prevents it, the records are archived."""

    def __init__(self, broker: Home, controller: "Controller") -> None:
        self._broker = broker
        self._controller = controller

    @property
    def known(self) -> bool:
        """Whether the release has dead letters."""
        return self._broker.policies[dead_letters] == "written"

    def has(self, group: str) -> bool:
        """Whether records of the group go to a dead letter topic before they are archived."""
        if not settings.dead_letter_topic(self._broker.environment.configs, group):
            return False
        return self.known and self._broker.features.get(_SHARE_FEATURE, 0) >= _LEVEL

    def write(self, group: str, source: Partition, letters: Sequence[Letters], done: Done) -> None:
        """Calls `done` when they are written, or will never be."""
        _Mail(self._broker, self._controller, group, source, letters, done).go_on()


class _Mail:
    """The letters of one change, some at a time."""

    def __init__(
        self,
        broker: Home,
        controller: "Controller",
        group: str,
        source: Partition,
        letters: Sequence[Letters],
        done: Done,
    ) -> None:
        self._broker = broker
        self._controller = controller
        self._group = group
        self._source = source
        self._left = _each(letters)
        self._next = next(self._left, None)
        self._done = done
        self._attempts = 0

    @property
    def _configs(self) -> Configs:
        return self._broker.environment.configs

    def go_on(self) -> None:
        """Writes the next batch."""
        if self._next is None or not self._broker.online:
            self._done()
            return
        topic = settings.dead_letter_topic(self._configs, self._group)
        if not topic or not self._may_write(topic):
            self._done()
            return
        target = self._leader(topic)
        if target is None:
            self._try_again()
        elif target.is_under_min_isr:
            self._done()
        else:
            self._attempts = 0
            self._write(target)

    def _may_write(self, topic: str) -> bool:
        """Whether the topic takes letters, or may be made."""
        configs, broker = self._configs, self._broker
        prefix = configs.broker_text(_PREFIX, broker.id) or ""
        if topic.startswith(_INTERNAL) or not topic.startswith(prefix):
            return False
        if (known := broker.known_topics().get(topic)) is not None:
            return known.overrides.get(_TAKES, "false").lower() == "true"
        return configs.broker_bool(_CREATES, broker.id) and self._create(topic)

    def _create(self, topic: str) -> bool:
        """Whether the topic is there, though this broker may not have learned of it."""
        if topic in self._controller.image.topics:
            return True
        try:
            check_name(self._controller, topic)
            made = place(self._controller, -1, -1)
        except ApiError:
            return False
        overrides = {_TAKES: "true", "message.timestamp.type": "CreateTime"}
        self._controller.create_topic(topic, made, overrides)
        return True

    def _leader(self, topic: str) -> Partition | None:
        """Of the partition where letters of the source go."""
        known = self._broker.known_topics().get(topic)
        if known is None:
            return None
        target = self._broker.leader_of(topic, self._source.index % len(known.partitions))
        return target if target is not None and target.leads else None

    def _try_again(self) -> None:
        self._attempts += 1
        if self._attempts > _ATTEMPTS:
            self._done()
        else:
            self._broker.environment.after(_BACKOFF_MS << (self._attempts - 1), self.go_on)

    def _write(self, target: Partition) -> None:
        now_ms = self._broker.environment.now_ms
        made = memoryview(batch_of_records(self._packed(target.settings.max_message_bytes), now_ms))
        place_of = target.topic.name, target.index
        try:
            batch, _, newest = validate(made, header_of(made), target.settings, place_of, now_ms)
        except BatchError:
            self._done()
            return
        if target.settings.log_append_time:
            stamp(batch, newest, append_time=True)
        end = append_own(target, batch)
        if self._next is None and target.log.high_watermark >= end:
            self._done()
        elif self._next is None:
            await_replication(target, end, _TIMEOUT_MS, lambda replicated: self._done())
        else:
            self._broker.environment.after(0, self.go_on)

    def _packed(self, most_bytes: int) -> list[bytes]:
        """Letters that fit into a batch, at least one."""
        contents = self._contents(most_bytes)
        found: list[bytes] = []
        size = HEADER_BYTES
        while self._next is not None and len(found) < PORTION:
            offset, why = self._next
            key, value = contents.get(offset, _NOTHING)
            one = record_of(len(found), key, value, self._headers(offset, why))
            if found and size + len(one) > most_bytes:
                break
            found.append(one)
            size += len(one)
            self._next = next(self._left, None)
        return found

    def _headers(self, offset: int, why: Letters) -> list[tuple[str, bytes | None]]:
        said = {
            "topic": self._source.topic.name,
            "partition": self._source.index,
            "offset": offset,
            "group": self._group,
            "delivery.count": why.count,
            "message": _WORN if why.worn else _REJECTED,
        }
        return [(f"__dlq.errors.{name}", str(each).encode()) for name, each in said.items()]

    def _contents(self, most_bytes: int) -> dict[int, Content]:
        """Of the next records, by offset, as far as they are to be copied, there, and not too large."""
        if self._next is None or not settings.copies_records(self._configs, self._group):
            return {}
        first = self._next[0]
        log = self._source.log
        found: dict[int, Content] = {}
        if first < log.start_offset:
            return found
        for batch in log.batches_between(first, min(first + PORTION, log.end_offset)):
            header = header_of(batch)
            if header.attributes & CONTROL:
                continue
            for span in spans(header, batch):
                if span.end - span.start <= most_bytes:
                    key, at = field(span.body, span.key)
                    found[span.offset] = key, field(span.body, at)[0]
        return found


def _each(letters: Sequence[Letters]) -> Iterator[tuple[int, Letters]]:
    for why in letters:
        for offset in range(why.first, why.last + 1):
            yield offset, why
