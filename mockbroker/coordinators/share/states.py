"""The share coordinator of one broker: the states of share partitions (`ShareCoordinatorShard.java`)."""

from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING, Final
from uuid import UUID

from ...policies.share_groups.initial_complete_count import initial_complete_count
from ...policies.share_groups.later_state_epoch import later_state_epoch
from ...policies.share_groups.negative_share_epoch import negative_share_epoch
from ...policies.share_groups.unknown_complete_count import unknown_complete_count
from ...portions import MANY, portions
from ...protocol.batch_writing import key_values
from ...protocol.errors import ErrorCode, default_message
from ...protocol.record_batch import records
from ...protocol.releases import parse
from ...protocol.share_state_log import (
    UNKNOWN,
    SharePartitionKey,
    Snapshot,
    StateBatch,
    Update,
    pack,
    read_key,
    read_snapshot,
    read_update,
    write_key,
    write_snapshot,
    write_update,
)
from ...replication.internal_append import append_own, await_replication
from ...share_partitions.combining import Batches, combining
from ...share_partitions.kept import Done, Kept, ShareState, of_snapshot
from ..home import Home

if TYPE_CHECKING:
    from ...replication.partition import Partition

E = ErrorCode
_WORDS_SINCE: Final = parse("4.4")
_FENCED: Final = (
    "The share coordinator rejected the request because the share-group state epoch did not match."
)
"""How an earlier state epoch was refused before."""
_NEGATIVE: Final = "The partition id cannot be a negative number."


class _Shard:
    """A partition of `__share_group_state` as its leader loaded it."""

    def __init__(self, partition: "Partition", *, keeps_count: bool) -> None:
        self.partition = partition
        self.epoch = partition.leader_epoch
        self.states: dict[SharePartitionKey, ShareState] = {}
        for batch in partition.log:
            for record in records(batch):
                if record.key is not None and record.offset >= partition.log.start_offset:
                    self._take(*read_key(record.key), record.value, keeps_count=keeps_count)

    def _take(self, key: SharePartitionKey, whole: bool, value: bytes | None, *, keeps_count: bool) -> None:
        before = self.states.get(key)
        if value is None:
            self.states.pop(key, None)
        elif whole:
            snapshot = read_snapshot(value)
            self.states[key] = of_snapshot(snapshot) if before is None else before.replaced(snapshot)
        elif before is not None:
            self.states[key] = before.changed(read_update(value), keeps_count=keeps_count)

    @property
    def current(self) -> bool:
        """Whether no other broker has led the partition since it was loaded, and this one is up."""
        partition = self.partition
        there = partition.leads and partition.host.online and not partition.deleted
        return there and partition.leader_epoch == self.epoch


_Found = tuple[_Shard, ShareState]
Parts = Generator[None, None, None]
"""What may take long, for its caller to yield in between."""


def written(partition: "Partition") -> dict[SharePartitionKey, ShareState]:
    """The states that the log of a partition of `__share_group_state` has."""
    return _Shard(partition, keeps_count=False).states


class ShareStates:
    """The share partitions whose states this broker keeps, because it leads their partitions of
    `__share_group_state`."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._shards: dict[int, _Shard] = {}

    def known(self, key: SharePartitionKey, index: int) -> ShareState | None:
        """What it has loaded of partition `index` of `__share_group_state`; None if that is nothing."""
        shard = self._shards.get(index)
        return shard.states.get(key) if shard is not None and shard.current else None

    # -- requests, of one share partition each

    def initialize(self, key: SharePartitionKey, state_epoch: int, start_offset: int, done: Done) -> None:
        """FENCED_STATE_EPOCH, UNKNOWN_TOPIC_OR_PARTITION, INVALID_REQUEST."""
        shard = self._shard(key, "initialize", done)
        if shard is None or self._is_negative(done, state=state_epoch):
            return
        before = shard.states.get(key)
        if before is not None and _is_earlier(state_epoch, before.state_epoch):
            done(self._refused(E.FENCED_STATE_EPOCH))
        elif error := self._missing(key):
            done(error)
        else:
            now_ms = self._home.environment.now_ms
            epoch = 0 if before is None else before.now.snapshot_epoch + 1
            count = self._home.policies[initial_complete_count](start_offset)
            snapshot = Snapshot(epoch, state_epoch, 0, start_offset, count, now_ms, now_ms, ())
            after = of_snapshot(snapshot) if before is None else before.replaced(snapshot)
            self._append(shard, key, after, write_key(key, whole=True), write_snapshot(snapshot), done)

    def read(self, key: SharePartitionKey, leader_epoch: int, done: Done) -> Parts:
        """INVALID_REQUEST, FENCED_LEADER_EPOCH, UNKNOWN_TOPIC_OR_PARTITION. A later leader is remembered."""
        while (found := self._readable(key, leader_epoch, done)) is not None:
            shard, state = found
            if leader_epoch in (UNKNOWN, state.leader_epoch):
                done(Kept(state=state))
                return
            now = state.now
            update = Update(now.snapshot_epoch, leader_epoch, now.start_offset, now.complete_count, ())
            if (yield from self._change(shard, key, state, update, done)):
                return

    def _readable(self, key: SharePartitionKey, leader_epoch: int, done: Done) -> _Found | None:
        shard = self._shard(key, "read", done)
        if shard is None or self._is_negative(done, leader=leader_epoch):
            return None
        state = shard.states.get(key)
        if state is None:
            text = "Read operation on uninitialized share partition not allowed."
            done(Kept(E.INVALID_REQUEST, text))
        elif self._is_earlier_reader(leader_epoch, state.leader_epoch):
            done(self._refused(E.FENCED_LEADER_EPOCH))
        elif error := self._missing(key):
            done(error)
        else:
            return shard, state
        return None

    def write(
        self,
        key: SharePartitionKey,
        state_epoch: int,
        leader_epoch: int,
        start_offset: int,
        complete_count: int,
        batches: Iterable[StateBatch],
        done: Done,
    ) -> Parts:
        """INVALID_REQUEST, FENCED_LEADER_EPOCH, FENCED_STATE_EPOCH, UNKNOWN_TOPIC_OR_PARTITION. Begins anew
        if somebody else changes the state meanwhile."""
        said: Batches | None = None
        while (found := self._writable(key, state_epoch, leader_epoch, done)) is not None:
            shard, state = found
            if said is None:
                said = yield from combining(batches, start_offset)
                continue
            now = state.now
            update = Update(now.snapshot_epoch, now.leader_epoch, start_offset, complete_count, said)
            if (yield from self._change(shard, key, state, update, done, state_epoch)):
                return

    def _writable(
        self, key: SharePartitionKey, state_epoch: int, leader_epoch: int, done: Done
    ) -> _Found | None:
        shard = self._shard(key, "write", done)
        if shard is None or self._is_negative(done, leader=leader_epoch, state=state_epoch):
            return None
        state = shard.states.get(key)
        if state is None:
            text = "Write operation on uninitialized share partition not allowed."
            done(Kept(E.INVALID_REQUEST, text))
        elif _is_earlier(leader_epoch, state.leader_epoch):
            done(self._refused(E.FENCED_LEADER_EPOCH))
        elif _is_earlier(state_epoch, state.state_epoch):
            done(self._refused(E.FENCED_STATE_EPOCH))
        elif error := self._missing(key):
            done(error)
        else:
            return shard, state
        return None

    def summarize(self, key: SharePartitionKey, done: Done) -> None:
        """UNKNOWN_TOPIC_OR_PARTITION, INVALID_REQUEST."""
        shard = self._shard(key, "read", done, what="share group state summary")
        if shard is not None:
            done(self._missing(key) or Kept(state=shard.states.get(key)))

    def delete(self, key: SharePartitionKey, done: Done) -> None:
        """UNKNOWN_TOPIC_OR_PARTITION, INVALID_REQUEST. What is not there is deleted, too."""
        shard = self._shard(key, "delete", done)
        if shard is None:
            return
        if error := self._missing(key):
            done(error)
        elif key not in shard.states:
            done(Kept())
        else:
            self._append(shard, key, None, write_key(key, whole=True), None, done)

    # -- what becomes of the broker and of topics

    def leader_changed(self, index: int, partition: "Partition | None") -> None:
        """The broker now leads a partition of `__share_group_state`, or no longer leads it."""
        self._shards.pop(index, None)

    def topics_deleted(self, topics: Iterable[UUID]) -> None:
        """Forgets the states of deleted topics."""
        gone = set(topics)
        for shard in self._shards.values():
            if shard.current:
                for key in [each for each in shard.states if each.topic_id in gone]:
                    self._append(shard, key, None, write_key(key, whole=True), None, _nobody)

    def halt(self) -> None:
        """The broker goes down."""
        self._shards.clear()

    # -- one state

    def _shard(
        self, key: SharePartitionKey, verb: str, done: Done, what: str = "share group state"
    ) -> _Shard | None:
        """None if it can't be asked: NOT_COORDINATOR, INVALID_REQUEST."""
        if key.partition < 0:
            done(Kept(E.INVALID_REQUEST, _NEGATIVE))
            return None
        partition = self._home.share_state_partition(key.coordinator_key)
        if partition is None or not partition.leads:
            text = f"Unable to {verb} {what}: {default_message(E.NOT_COORDINATOR)}"
            done(Kept(E.NOT_COORDINATOR, text))
            return None
        shard = self._shards.get(partition.index)
        if shard is None or not shard.current:
            keeps = self._keeps_count
            shard = self._shards[partition.index] = _Shard(partition, keeps_count=keeps)
        return shard

    def _is_negative(self, done: Done, **epochs: int) -> bool:
        """Whether a request is refused because of one of its epochs, of which the first is named."""
        if self._home.policies[negative_share_epoch] == "refused":
            for name, epoch in epochs.items():
                if epoch < 0:
                    done(Kept(E.INVALID_REQUEST, f"The {name} epoch cannot be a negative number."))
                    return True
        return False

    def _is_earlier_reader(self, epoch: int, known: int) -> bool:
        read_by_all = self._home.policies[negative_share_epoch] != "fenced-readers"
        return epoch < known and (epoch != UNKNOWN or not read_by_all)

    @property
    def _keeps_count(self) -> bool:
        return self._home.policies[unknown_complete_count] == "kept"

    def _missing(self, key: SharePartitionKey) -> Kept | None:
        topic = self._home.known_topic_ids().get(key.topic_id)
        if topic is None or key.partition >= len(topic.partitions):
            return self._refused(E.UNKNOWN_TOPIC_OR_PARTITION)
        return None

    def _refused(self, error: ErrorCode) -> Kept:
        if error is E.FENCED_STATE_EPOCH and self._home.environment.release < _WORDS_SINCE:
            return Kept(error, _FENCED)
        return Kept(error, default_message(error))

    def _change(
        self,
        shard: _Shard,
        key: SharePartitionKey,
        state: ShareState,
        update: Update,
        done: Done,
        state_epoch: int = UNKNOWN,
    ) -> "Generator[None, None, bool]":
        """Writes what has changed; or the whole state, if there were many changes since that was written, or
        its epoch is a later one. False, and nothing is done, if the state is another one meanwhile."""
        most = self._number("share.coordinator.snapshot.update.records.per.snapshot")
        later = state_epoch > state.state_epoch and self._home.policies[later_state_epoch] == "taken-over"
        after = yield from state.changing(update, keeps_count=self._keeps_count)
        whole = later or state.updates >= most
        packed = yield from _packed(after.now.batches if whole else update.batches)
        if not shard.current or shard.states.get(key) is not state:
            return False
        value = write_update(update, packed)
        if whole:
            now_ms = self._home.environment.now_ms
            snapshot = after.now._replace(
                snapshot_epoch=state.now.snapshot_epoch + 1,
                state_epoch=state_epoch if later else state.now.state_epoch,
                created_ms=now_ms,
                written_ms=now_ms,
            )
            after, value = after.replaced(snapshot), write_snapshot(snapshot, packed)
        self._append(shard, key, after, write_key(key, whole=whole), value, done, state)
        return True

    def _append(
        self,
        shard: _Shard,
        key: SharePartitionKey,
        after: ShareState | None,
        name: bytes,
        value: bytes | None,
        done: Done,
        before: ShareState | None = None,
    ) -> None:
        """What is written counts at once for later requests, and is answered once it is replicated."""
        partition, now_ms = shard.partition, self._home.environment.now_ms
        end = append_own(partition, key_values([(name, value)], now_ms, base_sequence=0))
        if after is None:
            shard.states.pop(key, None)
        else:
            shard.states[key] = after

        def waited(in_time: bool) -> None:
            if not in_time:
                done(Kept(E.COORDINATOR_NOT_AVAILABLE, default_message(E.COORDINATOR_NOT_AVAILABLE)))
            elif not shard.current:
                done(Kept(E.NOT_COORDINATOR, default_message(E.NOT_COORDINATOR)))
            else:
                done(Kept(state=before))

        if partition.log.high_watermark >= end:
            waited(True)
        else:
            await_replication(partition, end, self._number("share.coordinator.write.timeout.ms"), waited)

    def _number(self, config: str) -> int:
        return self._home.environment.configs.broker_int(config)


def _packed(batches: Batches) -> Generator[None, None, bytes]:
    found = []
    for some in portions(batches, MANY):
        found.append(pack(some))
        yield
    return b"".join(found)


def _is_earlier(epoch: int, known: int) -> bool:
    return epoch != UNKNOWN and epoch < known


def _nobody(kept: Kept) -> None:
    """Nobody waits for the answer."""
