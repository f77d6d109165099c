"""The transaction coordinator of one broker (`TransactionCoordinator.scala`).

A broker coordinates the transactional ids of the partitions of `__transaction_state` that it leads. Each
change is written there first, and is valid once it is replicated; the next leader loads it from there.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from ..policies.transactions.adding_during_markers import adding_during_markers
from ..policies.transactions.epoch_bump import epoch_bump
from ..policies.transactions.transaction_completion import transaction_completion
from ..policies.transactions.transaction_timeout_fencing import transaction_timeout_fencing
from ..protocol.api_error import ApiError
from ..protocol.batch_writing import Marker
from ..protocol.errors import ErrorCode
from . import transaction_rules as rules
from .home import Home
from .transaction import EPOCH_BUMP_VERSION, NONE, TopicPartition, Transaction
from .transaction_markers import RETRY_MS, Markers
from .transaction_rules import AlreadyDoneError, ProducerIdAndEpoch
from .transaction_settings import TransactionSettings
from .transaction_states import PREPARED, TransactionState
from .transaction_store import Entry, Owned
from .transaction_version import transaction_version

if TYPE_CHECKING:
    from ..replication.partition import Partition

E = ErrorCode
Done = Callable[[ErrorCode, int, int], None]
"""Error, producer id and epoch of an answer; with an error the other two are -1."""


class TransactionCoordinator:
    """`owned` are the loaded partitions, by index; `settings` were read when the broker started."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._environment = home.environment
        self.settings = TransactionSettings.of(home.environment)
        self.owned: dict[int, Owned] = {}
        self._started_ms = home.environment.now_ms
        self._planned: set[Callable[[], bool]] = set()

    # -- what is here

    def leader_changed(self, index: int, partition: "Partition | None") -> None:
        """Loads a partition that this broker leads now, or lets go of one that it led."""
        if partition is None or not partition.leads:
            self.owned.pop(index, None)
        elif partition.log.end_offset:
            self._load(partition)

    def _load(self, partition: "Partition") -> Owned:
        owned = self.owned[partition.index] = Owned(self._home, self.settings, partition)
        for name, entry in list(owned.entries.items()):
            if entry.now.state in PREPARED:
                self._send_markers(owned, name, entry)
        if owned.entries:
            self._plan()
        return owned

    def _own(self, transactional_id: str) -> Owned:
        """ApiError INVALID_REQUEST for an empty id, NOT_COORDINATOR if another broker coordinates it."""
        if not transactional_id:
            raise ApiError(E.INVALID_REQUEST)
        partition = self._home.transaction_partition(transactional_id)
        if partition is None or not partition.leads:
            raise ApiError(E.NOT_COORDINATOR)
        owned = self.owned.get(partition.index)
        return owned if owned is not None and owned.current else self._load(partition)

    def find(self, transactional_id: str) -> Transaction | None:
        """The state of a transactional id, None if there is none. ApiError."""
        entry = self._own(transactional_id).entries.get(transactional_id)
        return None if entry is None else entry.now

    def __iter__(self) -> Iterator[tuple[str, Transaction]]:
        """They may change meanwhile."""
        for owned in list(self.owned.values()):
            for name, entry in list(owned.entries.items()):
                yield name, entry.now

    def _entry(self, transactional_id: str) -> tuple[Owned, Entry]:
        """ApiError INVALID_PRODUCER_ID_MAPPING, and those of `_own`."""
        owned = self._own(transactional_id)
        entry = owned.entries.get(transactional_id)
        if entry is None:
            raise ApiError(E.INVALID_PRODUCER_ID_MAPPING)
        return owned, entry

    # -- what clients ask for

    def initialize(
        self, transactional_id: str, timeout_ms: int, expected: ProducerIdAndEpoch | None, done: Done
    ) -> None:
        """InitProducerId with a transactional id."""
        try:
            if transactional_id and not 0 < timeout_ms <= self.settings.max_timeout_ms:
                raise ApiError(E.INVALID_TRANSACTION_TIMEOUT)
            owned = self._own(transactional_id)
            entry = owned.entries.get(transactional_id)
            if entry is None:
                new_id, now_ms = self._home.new_producer_id(), self._environment.now_ms
                entry = owned.entries[transactional_id] = Entry(Transaction(new_id, timeout_ms, now_ms))
                self._plan()
            _check_settled(entry)
            if not self._home.policies[epoch_bump].on_request:
                expected = None
            rules.check_expected(entry.now, expected)
            if entry.now.state in PREPARED:
                raise ApiError(E.CONCURRENT_TRANSACTIONS)
            if entry.now.state is TransactionState.ONGOING:
                again = partial(_concurrent, done)
                self._abort(owned, transactional_id, entry, again, fences=True)
                return
            now_ms = self._environment.now_ms
            after = rules.initialize(entry.now, expected, timeout_ms, self._home.new_producer_id, now_ms)
        except ApiError as error:
            done(error.code, NONE, NONE)
            return
        owned.write(transactional_id, entry, after, partial(_answer, done, after))

    def add(
        self,
        transactional_id: str,
        producer: ProducerIdAndEpoch,
        partitions: frozenset[TopicPartition],
        version: int,
        done: Callable[[ErrorCode], None],
    ) -> None:
        """Adds partitions, for a client of transaction `version`."""
        try:
            owned, entry = self._entry(transactional_id)
            _check_settled(entry)
            if self._home.policies[adding_during_markers] == "markers-first":
                rules.check_not_prepared(entry.now)
            after = rules.add(entry.now, producer, partitions, version, self._environment.now_ms)
        except ApiError as error:
            done(error.code)
        except AlreadyDoneError:
            done(E.NONE)
        else:
            owned.write(transactional_id, entry, after, done)

    def missing(
        self, transactional_id: str, producer: ProducerIdAndEpoch, partitions: frozenset[TopicPartition]
    ) -> frozenset[TopicPartition]:
        """Which of these are not part of the transaction. ApiError."""
        _, entry = self._entry(transactional_id)
        rules.check_current(entry.now, producer)
        return partitions - entry.now.partitions

    def end(
        self, transactional_id: str, producer: ProducerIdAndEpoch, committed: bool, version: int, done: Done
    ) -> None:
        """EndTxn of a client of transaction `version`; answered before the markers are written."""
        bumps = version >= EPOCH_BUMP_VERSION
        try:
            owned, entry = self._entry(transactional_id)
            _check_settled(entry)
            if bumps and not transaction_version(self._home.policies, self._home.features):
                # Records of version 0 have no room for it. The broker has begun, and never ends.
                self._end_and_bump(entry, producer, committed)
                entry.pending = True
                raise ApiError(E.UNSUPPORTED_VERSION)
            if bumps:
                after = self._end_and_bump(entry, producer, committed)
            else:
                policies, now_ms = self._home.policies, self._environment.now_ms
                after = rules.end(entry.now, producer, committed, policies, now_ms, unsent=entry.unsent)
        except ApiError as error:
            done(error.code, NONE, NONE)
        except AlreadyDoneError:
            _answer(done, entry.now, E.NONE, shown=bumps)
        else:
            if not bumps and producer.epoch > entry.now.epoch:
                # A real broker fails once it has written this; the next one to load it sends the markers.
                owned.write(transactional_id, entry, after, partial(_failed, entry, done))
                return
            self._finish(owned, transactional_id, entry, after, partial(_answer, done, shown=bumps))

    # -- how it ends

    def _end_and_bump(self, entry: Entry, producer: ProducerIdAndEpoch, committed: bool) -> Transaction:
        home, now_ms = self._home, self._environment.now_ms
        return rules.end_and_bump(entry.now, producer, committed, home.policies, home.new_producer_id, now_ms)

    def _abort(
        self,
        owned: Owned,
        transactional_id: str,
        entry: Entry,
        done: Callable[[ErrorCode], None],
        *,
        fences: bool,
    ) -> None:
        """Aborts without a client's EndTxn; with `fences`, because of a new instance, it always bumps the
        epoch. ApiError UNKNOWN_SERVER_ERROR."""
        fencing = self._home.policies[transaction_timeout_fencing]
        if fences:
            fencing = fencing._replace(bumps_epoch=True)
        after = rules.abort_and_fence(
            entry.now,
            fencing,
            self._home.policies,
            transaction_version(self._home.policies, self._home.features),
            self._home.new_producer_id,
            self._environment.now_ms,
        )
        self._finish(owned, transactional_id, entry, after, lambda _, error: done(error))

    def _finish(
        self,
        owned: Owned,
        transactional_id: str,
        entry: Entry,
        after: Transaction,
        done: Callable[[Transaction, ErrorCode], None],
    ) -> None:
        """Writes the decision, answers, then sends the markers."""

        def written(error: ErrorCode) -> None:
            if error:
                done(after, error)
                return
            done(after.completed(self._environment.now_ms), error)
            if self._home.policies[transaction_completion] == "completes":
                self._send_markers(owned, transactional_id, entry)

        owned.write(transactional_id, entry, after, written)

    def _send_markers(self, owned: Owned, transactional_id: str, entry: Entry) -> None:
        """Sends the markers, then has `_complete` write that all of them are there."""
        now = entry.now
        marker = Marker(now.producer_id, now.epoch, now.state is TransactionState.PREPARE_COMMIT, owned.epoch)

        def done() -> None:
            self._complete(owned, transactional_id, entry, now)

        def marked(keys: frozenset[TopicPartition]) -> None:
            if entry.now.state in PREPARED:
                entry.now = entry.now.without(keys)

        version, keys = now.client_version, now.partitions
        markers = Markers(self._home, marker, keys, lambda: owned.current, done, marked, version)
        if self.settings.markers_delay_ms:
            self._environment.wait(self.settings.markers_delay_ms, markers.send)
        else:
            markers.send()

    def _complete(self, owned: Owned, transactional_id: str, entry: Entry, ended: Transaction) -> None:
        """Writes that all markers are there."""

        def written(error: ErrorCode) -> None:
            if error is E.COORDINATOR_NOT_AVAILABLE:
                again = partial(self._complete, owned, transactional_id, entry, ended)
                self._environment.wait(RETRY_MS, again)

        owned.write(transactional_id, entry, ended.completed(self._environment.now_ms), written)

    # -- time

    def _plan(self) -> None:
        """Checks for timed-out transactions and expired ids as often as Kafka does, while there are any."""
        settings = self.settings
        self._plan_one(settings.timeout_check_interval_ms, self._abort_timed_out)
        self._plan_one(settings.expiration_check_interval_ms, self._forget_expired)

    def _plan_one(self, interval_ms: int, look: Callable[[], bool]) -> None:
        if look in self._planned:
            return
        self._planned.add(look)

        def due() -> None:
            self._planned.discard(look)
            if look():
                self._plan_one(interval_ms, look)

        since_last_ms = (self._environment.now_ms - self._started_ms) % interval_ms
        self._environment.after(interval_ms - since_last_ms, due)

    def _abort_timed_out(self) -> bool:
        now_ms, every = self._environment.now_ms, self._all()
        for owned, name, entry in every:
            now = entry.now
            ongoing = now.state is TransactionState.ONGOING and not entry.pending
            if ongoing and now.start_ms + now.timeout_ms < now_ms:
                try:
                    self._abort(owned, name, entry, lambda error: None, fences=False)
                except ApiError:
                    break
        return bool(every)

    def _forget_expired(self) -> bool:
        """Writes a tombstone for each id that has had no transaction for a long time."""
        before_ms = self._environment.now_ms - self.settings.expiration_ms
        for owned, name, entry in self._all():
            if _may_expire(entry) and entry.now.last_update_ms <= before_ms:
                owned.write(name, entry, None, lambda error: None)
        return bool(self._all())

    def may_expire(self, transactional_id: str) -> bool:
        """Whether nothing but its time keeps an id from being forgotten. ApiError."""
        return _may_expire(self._entry(transactional_id)[1])

    def expire(self, transactional_id: str) -> None:
        """Writes an id's tombstone, as if its time were over. ApiError."""
        owned, entry = self._entry(transactional_id)
        owned.write(transactional_id, entry, None, lambda error: None)

    def _all(self) -> list[tuple[Owned, str, Entry]]:
        return [
            (owned, name, entry)
            for owned in self.owned.values()
            if owned.current
            for name, entry in owned.entries.items()
        ]


def _may_expire(entry: Entry) -> bool:
    return entry.now.at_rest and not entry.pending


def _check_settled(entry: Entry) -> None:
    if entry.pending:
        raise ApiError(E.CONCURRENT_TRANSACTIONS)


def _answer(done: Done, state: Transaction, error: ErrorCode, *, shown: bool = True) -> None:
    if error or not shown:
        done(error, NONE, NONE)
    else:
        done(error, state.producer_id, state.epoch)


def _failed(entry: Entry, done: Done, error: ErrorCode) -> None:
    entry.unsent = not error
    done(error or E.PRODUCER_FENCED, NONE, NONE)


def _concurrent(done: Done, error: ErrorCode) -> None:
    """The client has to try again once its old transaction is aborted."""
    done(error or E.CONCURRENT_TRANSACTIONS, NONE, NONE)
