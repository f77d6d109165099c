"""A share partition at the leader of its partition: it is read from its share coordinator, and what becomes
of its records is written there (`SharePartition.java`)."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from ..configs.groups import reset_duration_ms
from ..coordinators.share import settings
from ..environment import Timer
from ..environment.nobody import Nobody
from ..outcome import Asked, Steps
from ..policies.share_groups.delivery_at_session_end import delivery_at_session_end
from ..policies.share_groups.release_beside_others import release_beside_others
from ..policies.share_groups.start_behind_log_start import start_behind_log_start
from ..protocol.api_error import ApiError
from ..protocol.errors import ErrorCode, default_message
from ..protocol.releases import parse
from ..protocol.share_state_log import UNKNOWN, SharePartitionKey
from ..protocol.share_state_log import StateBatch as KeptBatch
from ..replication.waiters import Waiters
from ..share_partitions.acknowledgement import Acknowledgement, AcknowledgementError, Change, Letters
from ..share_partitions.flight import ShareLimits
from ..share_partitions.in_flight import StateBatch
from ..share_partitions.kept import Kept, Persister
from ..share_partitions.share_partition import SharePartition
from ..share_partitions.states import RecordState

if TYPE_CHECKING:
    from ..replication.partition import Partition
    from .dead_letters import DeadLetters

E = ErrorCode
Answer = Callable[[ErrorCode, str | None], None]
InParts = Callable[[Asked, Steps], object]
_ARCHIVING: Final = RecordState.ARCHIVING.value
_ERRORS: Final = {
    E.NOT_COORDINATOR: E.COORDINATOR_NOT_AVAILABLE,
    E.COORDINATOR_NOT_AVAILABLE: E.COORDINATOR_NOT_AVAILABLE,
    E.COORDINATOR_LOAD_IN_PROGRESS: E.COORDINATOR_NOT_AVAILABLE,
    E.GROUP_ID_NOT_FOUND: E.GROUP_ID_NOT_FOUND,
    E.UNKNOWN_TOPIC_OR_PARTITION: E.UNKNOWN_TOPIC_OR_PARTITION,
    E.FENCED_LEADER_EPOCH: E.NOT_LEADER_OR_FOLLOWER,
    E.FENCED_STATE_EPOCH: E.NOT_LEADER_OR_FOLLOWER,
}
"""What clients are told of errors of the share coordinator; any other is UNKNOWN_SERVER_ERROR."""
_WORDS_SINCE: Final = parse("4.2")
_MOST_IN_FLIGHT: Final = 1_000_000
"""Offsets in a state: no broker writes one that is larger, and each may need a state of its own."""
_FATAL: Final = frozenset({E.NOT_LEADER_OR_FOLLOWER, E.GROUP_ID_NOT_FOUND, E.UNKNOWN_TOPIC_OR_PARTITION})
"""The leader forgets the share partition then, and reads it again."""
_WRITE_FAILED: Final = "Error in write state RPC. "
"""What clients are told in front of the share coordinator's message (`PersisterStateManager.java`)."""
_NOT_FOUND: Final = "Error in find coordinator. Exhausted max retries to find coordinator without success."
"""What they are told if no share coordinator can be reached."""


class LedShare:
    """`share` is None until the state was read, `failed` is why it could not be. `drop` is called when the
    leader has to forget it."""

    def __init__(
        self,
        key: SharePartitionKey,
        partition: "Partition",
        persister: Persister,
        drop: "Callable[[LedShare], None]",
        letters: "DeadLetters",
        in_parts: InParts,
    ) -> None:
        self.key = key
        self.partition = partition
        self.environment = partition.environment
        self.leader_epoch = partition.leader_epoch
        self._led_since = partition.led_since
        self.share: SharePartition | None = None
        self.failed: ErrorCode | None = None
        self.waiting: Waiters[Callable[[], None]] = Waiters()
        """Requests that wait until records can be acquired."""
        self.began_at: int | None = None
        """The end of the partition, if the group began there, for want of any offset."""
        self._persister = persister
        self._drop = drop
        self._letters = letters
        self._in_parts = in_parts
        self._state_epoch = 0
        self._timer: Timer | None = None
        self.environment.after(0, self._begin)

    @property
    def current(self) -> bool:
        """Whether the broker has led the partition ever since. That it is elected again changes nothing
        (`Partition.invokeOnBecomingFollowerListeners`)."""
        partition = self.partition
        there = partition.leads and not partition.deleted and partition.host.online
        return there and partition.led_since == self._led_since

    def active(self) -> SharePartition | None:
        """With the limits that the group has now; None if there is no state, or the leader has changed."""
        if self.share is not None:
            self.share.limits = self._limits()
        return self.share if self.current else None

    def _limits(self) -> ShareLimits:
        group = self.key.group
        return settings.limits(self.environment.configs, group, sets_aside=self._letters.has(group))

    @property
    def _moves_back(self) -> bool:
        return self.partition.policies[start_behind_log_start] == "moves-back"

    # -- the state

    def _begin(self) -> None:
        self._persister.read(self.key, self.leader_epoch, self._read)

    def _read(self, kept: Kept) -> None:
        self._in_parts(Nobody(self.environment), self._restore(kept))

    def _restore(self, kept: Kept) -> Steps:
        if kept.error or kept.state is None:
            self._fail(_ERRORS.get(kept.error, E.UNKNOWN_SERVER_ERROR))
            return
        now = kept.state.now
        start = now.start_offset if now.start_offset != UNKNOWN else self._reset()
        if start is None:
            self._fail(E.OFFSET_NOT_AVAILABLE)
            return
        if now.batches and now.batches[-1].last - start >= _MOST_IN_FLIGHT:
            self._fail(E.UNKNOWN_SERVER_ERROR)
            return
        try:
            batches = (
                StateBatch(each.first, each.last, RecordState(each.state), each.deliveries)
                for each in now.batches
            )
            share = yield from SharePartition.restoring(start, batches, self._limits())
        except ValueError:
            self._fail(E.UNKNOWN_SERVER_ERROR)
            return
        if self.failed is not None:
            # The leader has forgotten it meanwhile.
            return
        letters = share.set_aside() if any(each.state == _ARCHIVING for each in now.batches) else []
        if letters and not self._letters.known:
            self._fail(E.UNKNOWN_SERVER_ERROR)
            return
        self.share = share
        self._state_epoch = now.state_epoch
        self._bury(share, letters)
        self.wake()

    def _fail(self, error: ErrorCode) -> None:
        self.failed = error
        self._drop(self)
        self.wake()

    def _reset(self) -> int | None:
        """Where the group begins; None if there is no record of that time."""
        log, reset = self.partition.log, settings.offset_reset(self.environment.configs, self.key.group)
        if reset == "earliest":
            return log.start_offset
        if reset == "latest":
            self.began_at = log.high_watermark if log.high_watermark > log.start_offset else None
            return log.high_watermark
        found = log.first_at_or_after(self.environment.now_ms - reset_duration_ms(reset))
        return None if found is None else found[1]

    # -- what is written

    def acknowledge(self, member: str, said: Iterable[Acknowledgement], answer: Answer) -> None:
        """Raises ApiError UNKNOWN_SERVER_ERROR, which is that of the whole request."""
        share = self.active()
        if share is None:
            answer(E.NOT_LEADER_OR_FOLLOWER, default_message(E.NOT_LEADER_OR_FOLLOWER))
            return
        try:
            change = share.acknowledge(member, said, self.environment.now_ms)
        except AcknowledgementError as error:
            self.watch()
            code = ErrorCode[error.code]
            if code is E.UNKNOWN_SERVER_ERROR:
                raise ApiError(code) from error
            answer(code, self._words(str(error)))
            return
        self._write(share, change, answer)

    def _words(self, message: str) -> str:
        if self.environment.release < _WORDS_SINCE:
            return message.replace("The offset cannot be acknowledged.", "The batch cannot be acknowledged.")
        return message

    def release(self, member: str) -> None:
        """The member's session has ended."""
        share = self.active()
        if share is not None:
            policies = self.partition.policies
            change = share.release_all(
                member,
                takes_back=policies[delivery_at_session_end] == "taken-back",
                stops=policies[release_beside_others] == "stops",
            )
            self._write(share, change, lambda error, message: None)

    def _write(self, share: SharePartition, change: Change, answer: Answer) -> None:
        def done(kept: Kept) -> None:
            if kept.error:
                share.undo(change, self.environment.now_ms)
            else:
                share.commit(change, moves_back=self._moves_back)
                self._bury(share, change.letters)
            self.watch()
            code = _ERRORS.get(kept.error, E.UNKNOWN_SERVER_ERROR) if kept.error else E.NONE
            if code in _FATAL:
                self._drop(self)
            answer(code, _told(kept, code))
            self.wake()

        if not change.batches:
            share.commit(change, moves_back=self._moves_back)
            self.watch()
            answer(E.NONE, None)
        else:
            self._persist(share, change.batches, lambda kept: self._later(partial(done, kept)))

    def _later(self, callback: Callable[[], None]) -> None:
        """A ShareFetch reads before its acknowledgements are written."""
        self.environment.after(0, callback)

    def _bury(self, share: SharePartition, letters: Sequence[Letters]) -> None:
        """Writes dead letters, and then that these records are archived."""

        def written() -> None:
            if self.share is share and self.current:
                self._persist(share, share.archive(letters), lambda kept: self._expired(share))

        if letters:
            self._letters.write(self.key.group, self.partition, letters, written)

    def _persist(
        self, share: SharePartition, batches: Iterable[StateBatch], done: Callable[[Kept], None]
    ) -> None:
        said = [KeptBatch(each.first, each.last, each.state.value, each.delivery_count) for each in batches]
        count = share.complete_count
        start, epoch = share.start_offset, self.leader_epoch
        self._persister.write(self.key, self._state_epoch, epoch, start, count, said, done)

    # -- locks

    def watch(self) -> None:
        """Sets the timer for the next lock that ends."""
        due_ms = None if self.share is None else self.share.next_expiry()
        if self._timer is not None:
            if due_ms is not None and self._timer.deadline_ms <= due_ms:
                return
            self._timer.cancel()
            self._timer = None
        if due_ms is not None:
            self._timer = self.environment.after(max(0, due_ms - self.environment.now_ms), self._expire)

    def end_locks(self) -> None:
        """All locks end now."""
        share = self.active()
        if share is not None and share.end_locks(self.environment.now_ms):
            self._expire()

    def _expire(self) -> None:
        self._timer = None
        share = self.active()
        if share is None:
            return
        ended = share.expire(self.environment.now_ms)
        self.watch()
        if ended:
            letters = [
                Letters(each.first, each.last, each.delivery_count, worn=True)
                for each in ended
                if each.state is RecordState.ARCHIVING
            ]

            def done(kept: Kept) -> None:
                self._expired(share)
                self._bury(share, letters)

            self._persist(share, ended, done)
            self.wake()

    def _expired(self, share: SharePartition) -> None:
        if share.advance(moves_back=self._moves_back):
            self.wake()

    def wake(self) -> None:
        """Requests that wait look again."""
        for look in list(self.waiting):
            look()

    def stop(self) -> None:
        """The leader forgets it."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.share = None
        self.failed = self.failed or E.NOT_LEADER_OR_FOLLOWER
        self.wake()


def _told(kept: Kept, code: ErrorCode) -> str | None:
    if not kept.error:
        return None
    return _NOT_FOUND if code is E.COORDINATOR_NOT_AVAILABLE else f"{_WRITE_FAILED}{kept.message}"
