"""A consumer as KAFKA-19902 describes Java's: a position with the epoch of its last record and the leader it
was read from, validation by OffsetForLeaderEpoch, and commits that carry one of these epochs
(`SubscriptionState.java`, `FetchCollector.java`, `OffsetFetcherUtils.java`, `ConsumerUtils.java`).
"""

import enum
from collections.abc import Callable
from typing import Any, ClassVar, Final

from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic, PartitionData
from ..protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from ..protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from ..protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)
from ..protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from . import batches
from .client import LEADER_GONE, NO_BROKER, NO_EPOCH, ModelClient
from .consumer_setting import Commit, ConsumerSetting, Reset
from .consumption import Consumption, Position
from .ledger import Place
from .scene import Scene

_SPEAKS: Final = {
    ApiKey.METADATA: 9,
    ApiKey.FETCH: 12,
    ApiKey.LIST_OFFSETS: 7,
    ApiKey.OFFSET_COMMIT: 8,
    ApiKey.OFFSET_FETCH: 8,
    ApiKey.OFFSET_FOR_LEADER_EPOCH: 4,
}
_VALIDATES_SINCE: Final = 3
"""A consumer validates positions if it has this version of OffsetForLeaderEpoch (KIP-320)."""
_EARLIEST, _LATEST = -2, -1
_MAX_WAIT_MS: Final = 500
_FETCH_BYTES: Final = 1 << 20


class State(enum.Enum):
    """What a consumer is doing."""

    IDLE = "owns nothing"
    RESTORING = "asks for its committed offset"
    VALIDATING = "asks where the epoch of its position ends"
    FETCHING = "reads"
    RESETTING = "asks for the offset to begin at"
    FAILED = "has told its application of an error"


class ModelConsumer(ModelClient):
    """One member of `group`, which reads one partition while that is assigned to it."""

    speaks: ClassVar[dict[ApiKey, int]] = _SPEAKS
    state = State.IDLE
    position: Position | None = None
    acknowledged: int | None = None
    """What its group had committed when it asked, or what it has committed since, as far as it knows."""

    def __init__(
        self,
        scene: Scene,
        consumption: Consumption,
        name: str,
        group: str,
        place: Place,
        setting: ConsumerSetting,
    ) -> None:
        super().__init__(scene, name, self.speaks)
        self.consumption, self.group, self.place, self.setting = consumption, group, place, setting
        self.topic, self.partition = place
        self.newest: dict[str, int] = {}
        """The number of the last record that it read of each idempotent producer, since it last changed
        position."""
        self._validates = self.versions.get(ApiKey.OFFSET_FOR_LEADER_EPOCH, 0) >= _VALIDATES_SINCE

    # -- owning the partition

    def start(self) -> None:
        """The partition is assigned to it."""
        if self.state in (State.IDLE, State.FAILED):
            self._begin(State.RESTORING, self._restore)

    def stop(self, commit: bool, then: Callable[[], None]) -> None:
        """The partition is revoked; calls `then` once it has committed, or failed to."""
        position, was = self.position, self.state
        self._turn += 1
        self.state, self.position = State.IDLE, None
        if commit and position is not None and was in (State.FETCHING, State.VALIDATING):
            self._commit(position, then)
        else:
            then()

    def _begin(self, state: State, action: Callable[[], None]) -> None:
        self.state = state
        self._turn += 1
        action()

    def _again(self, action: Callable[[], None]) -> None:
        """Tries once more after a while."""
        self.later(self.unless_over(action))

    def _with_leader(self, action: Callable[[], None]) -> None:
        """Looks up the leader first, then tries once more after a while."""
        action = self.unless_over(action)
        self.refresh(self.topic, lambda: self.later(action))

    def _fail(self, error: str) -> None:
        self.state = State.FAILED
        self._turn += 1
        if self.scene.recording:
            self.tell(f"raises {error} at {self.position}")

    # -- committed offsets

    def _restore(self) -> None:
        coordinator = self.coordinator(self.group)
        if coordinator == NO_BROKER:
            self._again(self._restore)
            return
        acknowledged = self.acknowledged = self.consumption.committed_offset(self)
        topics = [OffsetFetchRequestTopics(None, [self.partition], self.topic)]
        request = OffsetFetchRequest([self._as_member(topics)])

        def answered(answer: OffsetFetchResponse | None) -> None:
            found = answer and answer.groups[0]
            if not found or found.error_code or found.topics[0].partitions[0].error_code:
                self._refused(found.error_code if found else None)
                self._again(self._restore)
                return
            one = found.topics[0].partitions[0]
            has_epoch = self.versions[ApiKey.OFFSET_FETCH] >= 5
            self.consumption.restored(self, one.committed_offset, acknowledged)
            self._restored(one.committed_offset, one.committed_leader_epoch if has_epoch else NO_EPOCH)

        self.ask(coordinator, ApiKey.OFFSET_FETCH, request, self.unless_over(answered), "coordinator")

    def _as_member(self, topics: list[OffsetFetchRequestTopics]) -> OffsetFetchRequestGroup:
        """What it asks for, in the words of its group's protocol."""
        return OffsetFetchRequestGroup(self.group, topics=topics)

    def _from_member(self, topics: list[OffsetCommitRequestTopic]) -> OffsetCommitRequest:
        """The same for a commit."""
        return OffsetCommitRequest(self.group, topics=topics)

    def _refused(self, error: int | None) -> None:
        """The coordinator did not do as it was asked; None if it did not answer."""

    def _acknowledged(self, offset: int, before: int | None) -> None:
        """An offset was committed; when it was sent, the last one that its group knew of was `before`."""

    def _restored(self, offset: int, epoch: int) -> None:
        if offset < 0:
            self._reset("there is no committed offset")
            return
        if epoch != NO_EPOCH:
            self.saw_epoch(self.topic, self.partition, epoch)
        if self.scene.recording:
            self.tell(f"goes on at its committed offset {offset}, epoch {epoch}")
        self._seek(Position(offset, epoch, self.leader_of(self.topic, self.partition)))

    def commit(self) -> None:
        """Commits its position."""
        if self.position is not None and self.state is State.FETCHING:
            self._commit(self.position, lambda: None)

    def _commit(self, position: Position, then: Callable[[], None]) -> None:
        coordinator = self.coordinator(self.group)
        if coordinator == NO_BROKER:
            then()
            return
        epoch = self._committed_epoch(position)
        one = OffsetCommitRequestPartition(self.partition, position.offset, epoch, "")
        request = self._from_member([OffsetCommitRequestTopic(None, [one], self.topic)])
        sent_ms, before = self.cluster.now_ms, self.consumption.committed_offset(self)
        self.consumption.committing(self, position.offset)

        def answered(answer: OffsetCommitResponse | None) -> None:
            error = None if answer is None else answer.topics[0].partitions[0].error_code
            if error == ErrorCode.NONE:
                self._acknowledged(position.offset, before)
                self.consumption.committed(self, position.offset, sent_ms)
            else:
                self._refused(error)
            then()

        if self.scene.recording:
            self.tell(f"commits offset {position.offset}, epoch {epoch}")
        self.ask(coordinator, ApiKey.OFFSET_COMMIT, request, answered, "coordinator")

    def _committed_epoch(self, position: Position) -> int:
        match self.setting.commit:
            case Commit.POSITION:
                return position.epoch
            case Commit.FRESH_LEADER:
                return position.leader.epoch
            case Commit.LEADER_AT_COMMIT:
                latest = self.leader_of(self.topic, self.partition).epoch
                return latest if latest != NO_EPOCH else position.epoch
            case Commit.MAX_EPOCH | Commit.COMBINED:
                return max(position.epoch, position.leader.epoch)
            case Commit.NO_EPOCH:
                return NO_EPOCH

    # -- validation

    def _seek(self, position: Position) -> None:
        """Takes a position that it did not reach by reading."""
        self.position = position
        self._look()

    def _look(self) -> None:
        """Before each fetch: if the leader is not the position's leader, it has to confirm the position."""
        position = self.position
        assert position is not None
        leader = self.leader_of(self.topic, self.partition)
        if leader.leader == NO_BROKER:
            self._with_leader(self._look)
            return
        new = position.leader != leader or self.state is not State.FETCHING
        if position.leader != leader:
            self.position = position = position._replace(leader=leader)
        if new and self._validates and position.epoch != NO_EPOCH and leader.epoch != NO_EPOCH:
            self._begin(State.VALIDATING, self._validate)
        else:
            self._begin(State.FETCHING, self._fetch)

    def _validate(self) -> None:
        position = self.position
        assert position is not None
        asked = OffsetForLeaderPartition(self.partition, position.leader.epoch, position.epoch)
        request = OffsetForLeaderEpochRequest(-1, [OffsetForLeaderTopic(self.topic, [asked])])

        def answered(answer: OffsetForLeaderEpochResponse | None) -> None:
            found = answer and answer.topics[0].partitions[0]
            if not found or found.error_code:
                self._with_leader(self._look)
                return
            self._validated(position, found.leader_epoch, found.end_offset)

        answered = self.unless_over(answered)
        self.ask(position.leader.leader, ApiKey.OFFSET_FOR_LEADER_EPOCH, request, answered, "validation")

    def _validated(self, position: Position, epoch: int, end_offset: int) -> None:
        if self.scene.recording:
            leader = position.leader.leader
            self.tell(f"hears from broker {leader} that epoch {position.epoch} ends: ({epoch}, {end_offset})")
        if epoch == -1 or end_offset == -1:
            self._lost_position(f"broker {position.leader.leader} does not know epoch {position.epoch}")
        elif end_offset < position.offset:
            if self.setting.reset is Reset.NONE:
                self._fail("LogTruncationException")
                return
            self.consumption.went_back(self, position, end_offset)
            self.position = position._replace(offset=end_offset, epoch=epoch)
            self._begin(State.FETCHING, self._fetch)
        else:
            self._begin(State.FETCHING, self._fetch)

    # -- fetching

    def _fetch(self) -> None:
        position = self.position
        assert position is not None
        asked = FetchPartition(
            self.partition, position.leader.epoch, position.offset, partition_max_bytes=_FETCH_BYTES
        )
        request = FetchRequest(
            max_wait_ms=_MAX_WAIT_MS,
            min_bytes=1,
            isolation_level=int(self.setting.read_committed),
            topics=[FetchTopic(None, [asked], self.topic)],
        )

        def answered(answer: FetchResponse | None) -> None:
            if answer is None:
                self._with_leader(self._look)
                return
            self._fetched(position, answer.responses[0].partitions[0])

        self.ask(position.leader.leader, ApiKey.FETCH, request, self.unless_over(answered), "fetch")

    def _fetched(self, position: Position, found: PartitionData) -> None:
        if found.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            self._lost_position(
                f"broker {position.leader.leader} says that {position.offset} is out of range"
            )
            return
        if found.error_code:
            (self._with_leader if found.error_code in LEADER_GONE else self._again)(self._look)
            return
        if self.setting.read_committed:
            for batch, aborted in batches.with_aborted(found.records or (), found.aborted_transactions or ()):
                self._take(batch, aborted)
        else:
            for batch in found.records or ():
                self._take(batch)
        if self.random.random() < self.scene.plan.commit_rate:
            # Commit now and then, as applications do.
            self.commit()
        self._look()

    def _take(self, batch: Any, aborted: bool = False) -> None:
        position = self.position
        assert position is not None
        records = batches.read(batch)
        if records is None:
            end, epoch = batches.end_of(batch)
        else:
            end, epoch = records.end_offset, records.leader_epoch
            if aborted:
                self.consumption.skipped(self, records)
            elif end > position.offset:
                self.consumption.delivered(self, position.offset, records)
        if end <= position.offset:
            return
        leader = position.leader
        if self.setting.commit in (Commit.FRESH_LEADER, Commit.COMBINED):
            leader = self.leader_of(self.topic, self.partition)
        self.position = Position(end, epoch, leader)

    # -- resets

    def _lost_position(self, why: str) -> None:
        """`auto.offset.reset` decides; without one, the application gets an error."""
        position = self.position
        assert position is not None
        if self.setting.reset is Reset.NONE:
            self.consumption.lost_position(self, position, f"raises: {why}")
            self._fail("OffsetOutOfRangeException")
            return
        self.consumption.lost_position(self, position, f"resets to {self.setting.reset}: {why}")
        self._reset(why)

    def _reset(self, why: str) -> None:
        if self.setting.reset is Reset.NONE:
            self._fail("NoOffsetForPartitionException")
        else:
            self._begin(State.RESETTING, self._ask_for_start)

    def _ask_for_start(self) -> None:
        leader = self.leader_of(self.topic, self.partition)
        if leader.leader == NO_BROKER:
            self._with_leader(self._ask_for_start)
            return
        timestamp = _EARLIEST if self.setting.reset is Reset.EARLIEST else _LATEST
        asked = ListOffsetsPartition(self.partition, leader.epoch, timestamp)
        request = ListOffsetsRequest(-1, 0, [ListOffsetsTopic(self.topic, [asked])])

        def answered(answer: ListOffsetsResponse | None) -> None:
            found = answer and answer.topics[0].partitions[0]
            if not found or found.error_code:
                self._with_leader(self._ask_for_start)
                return
            if found.leader_epoch != NO_EPOCH and self.versions[ApiKey.LIST_OFFSETS] >= 4:
                self.saw_epoch(self.topic, self.partition, found.leader_epoch)
            if self.scene.recording:
                self.tell(f"begins at {self.setting.reset} offset {found.offset}")
            self.consumption.began(self, found.offset)
            self._seek(Position(found.offset, NO_EPOCH, self.leader_of(self.topic, self.partition)))

        self.ask(leader.leader, ApiKey.LIST_OFFSETS, request, self.unless_over(answered), "validation")
