"""Ids that a cluster draws: those of the recording, and those that another cluster gave in their place."""

from collections.abc import Hashable
from typing import Any, Final
from uuid import UUID

from ..protocol.batch_writing import batch_of
from ..protocol.record_batch import HEADER_BYTES, parse_header
from .batches import MAGIC_AT, split
from .messages import changed

_MEMBERS: Final = frozenset({"member_id", "leader"})
_GENERATIONS: Final = frozenset({"generation_id", "generation_id_or_member_epoch", "member_epoch"})
_SESSIONS: Final = frozenset({"session_id"})
_UNIQUE: Final = frozenset({"topic_id", "cluster_id"})
OLD: Final = "v3_and_below_"
"""In front of some fields' names in AddPartitionsToTxn."""
_NONE: Final = (-1, 0, "", None)


class Ids:
    """Learns from pairs of answers, and changes requests."""

    def __init__(self) -> None:
        self._given: dict[tuple[Hashable, ...], Any] = {}

    def learn(self, scope: Hashable, recorded: Any, given: Any) -> None:
        """Both are answers in the same version; `scope` is what generations and sessions belong to."""
        self._learn(scope, "", recorded, given)

    def _learn(self, scope: Hashable, name: str, recorded: Any, given: Any) -> None:
        if isinstance(recorded, dict) and isinstance(given, dict):
            self._learn_producer(recorded, given)
            for each in recorded.keys() & given.keys():
                self._learn(scope, each, recorded[each], given[each])
        elif isinstance(recorded, list) and isinstance(given, list):
            by_name = {_named(each): each for each in given}
            for each in recorded:
                # Members of a group have no name but their id, which each learns from its own answer.
                if (key := _named(each)) is not None:
                    self._learn(scope, name, each, by_name.get(key))
        elif given is not None and (kind := _kind(name, recorded, scope)):
            self._given[(*kind, recorded)] = given

    def _learn_producer(self, recorded: dict[str, Any], given: dict[str, Any]) -> None:
        own, other = recorded.get("producer_id"), given.get("producer_id")
        if isinstance(own, int) and isinstance(other, int) and own >= 0 <= other:
            self._given[("producer", own)] = other
            epochs = recorded.get("producer_epoch"), given.get("producer_epoch")
            self._given[("producer-epoch", own, epochs[0])] = epochs[1]

    def topic_id(self, recorded: UUID) -> UUID:
        """The topic's id there."""
        found: UUID = self._given.get(("topic_id", recorded), recorded)
        return found

    def request(self, scope: Hashable, body: Any, *, epochs: bool = True) -> Any:
        """The body of a request with the ids of the other cluster. Without `epochs` a client knows no leader
        epoch: leaders may have been elected more or less often there."""

        def change(owner: Any, name: str, value: Any) -> Any:
            if name == "records" and isinstance(value, bytes) and value:
                return self._records(value)
            if name == "current_leader_epoch" and not epochs:
                return -1
            name = name.removeprefix(OLD)
            if name == "producer_epoch":
                producer = getattr(owner, "producer_id", getattr(owner, OLD + "producer_id", None))
                return self._given.get(("producer-epoch", producer, value), value)
            kind = _kind(name, value, scope)
            return value if kind is None else self._given.get((*kind, value), value)

        return changed(body, change)

    def _records(self, records: bytes) -> bytes:
        whole, rest = split(records)
        return b"".join(map(self._batch, whole)) + rest

    def _batch(self, batch: bytes) -> bytes:
        if batch[MAGIC_AT] < 2:
            return batch
        header = parse_header(batch)
        producer = self._given.get(("producer", header.producer_id), header.producer_id)
        key = ("producer-epoch", header.producer_id, header.producer_epoch)
        epoch = self._given.get(key, header.producer_epoch)
        if (producer, epoch) == (header.producer_id, header.producer_epoch):
            return batch
        new = header._replace(producer_id=producer, producer_epoch=epoch)
        return bytes(batch_of(new, batch[HEADER_BYTES:]))


def _kind(name: str, value: Any, scope: Hashable) -> tuple[Hashable, ...] | None:
    if name == "producer_id" and isinstance(value, int) and value >= 0:
        return ("producer",)
    if value in _NONE:
        return None
    if name in _MEMBERS and isinstance(value, str):
        return ("member",)
    if name in _GENERATIONS:
        return ("generation", scope)
    if name in _SESSIONS:
        return ("session", scope)
    if name in _UNIQUE:
        return (name,)
    return None


def _named(item: Any) -> Hashable:
    """What an entry of a list is about."""
    if not isinstance(item, dict):
        return None
    for name in ("name", "topic", "group_id", "transactional_id", "partition_index", "topic_id"):
        if isinstance(value := item.get(name), str | int):
            return name, value
    return None
