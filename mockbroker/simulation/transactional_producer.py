"""Transactional producers by generation: how each begins, adds partitions, writes, commits or aborts, and how
it reacts to errors (`TransactionManager.java` of Kafka's clients 2.3.1, 2.8.2 and 4.3.1)."""

import enum
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from ..coordinators.transaction_version import transaction_version
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTransaction,
)
from ..protocol.messages.common import NamePartitions
from ..protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from ..protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from .client import NO_BROKER
from .idempotent_producer import IdempotentProducer, Reaction
from .ledger import Ending, Place, Transaction
from .producer import NO_ID, Batch
from .producer_setting import Generation, ProducerSetting
from .production import Production
from .scene import Scene

E = ErrorCode
_SPEAKS: Final = {
    Generation.V0_11: {ApiKey.ADD_PARTITIONS_TO_TXN: 1, ApiKey.END_TXN: 1},
    Generation.V1_0: {ApiKey.ADD_PARTITIONS_TO_TXN: 1, ApiKey.END_TXN: 1},
    Generation.V2_5: {ApiKey.ADD_PARTITIONS_TO_TXN: 3, ApiKey.END_TXN: 3},
    Generation.V4_0: {ApiKey.ADD_PARTITIONS_TO_TXN: 3, ApiKey.END_TXN: 5},
}
_OLD: Final = (Generation.V0_11, Generation.V1_0)
_BUMPS_SINCE: Final = 3
"""The version of InitProducerId that takes a producer id and epoch (KIP-360)."""
_PER_TRANSACTION: Final = 2
"""With this transaction version, EndTxn bumps the epoch and writing adds partitions (KIP-890)."""
_ADDS_BY_WRITING_SINCE: Final = 12
"""With this version of Produce, writing adds partitions."""
_AGAIN: Final = frozenset(
    {
        E.NOT_COORDINATOR,
        E.COORDINATOR_NOT_AVAILABLE,
        E.COORDINATOR_LOAD_IN_PROGRESS,
        E.CONCURRENT_TRANSACTIONS,
        E.UNKNOWN_TOPIC_OR_PARTITION,
    }
)
_FENCED: Final = (E.INVALID_PRODUCER_EPOCH, E.PRODUCER_FENCED)
_FAILURES: Final = 2
"""After so many failed transactions in a row, an application closes its producer."""


class State(enum.Enum):
    """What a transactional producer is doing."""

    UNINITIALIZED = "needs an epoch"
    READY = "between transactions"
    IN_TRANSACTION = "in a transaction"


@dataclass(slots=True)
class End(Batch):
    """A place in the queue of batches at which the application ends its transaction."""

    commit: bool = True


class TransactionalProducer(IdempotentProducer):
    """One instance of a transactional id; the next instance fences it."""

    transactional_id: str
    state = State.UNINITIALIZED
    _added = False
    _bump_due = False
    _failures = 0

    def __init__(
        self,
        scene: Scene,
        production: Production,
        name: str,
        place: Place,
        setting: ProducerSetting,
        transactional_id: str,
    ) -> None:
        super().__init__(scene, production, name, place, setting)
        self.transactional_id, self.transaction = transactional_id, Transaction(name)
        knows = setting.generation is Generation.V4_0
        cluster = scene.cluster
        level = transaction_version(cluster.policies, cluster.controller.image.features)
        self._per_transaction = knows and level >= _PER_TRANSACTION
        self._bumps = self.versions[ApiKey.INIT_PRODUCER_ID] >= _BUMPS_SINCE and not self._per_transaction
        if not self._per_transaction:
            produce = self.versions[ApiKey.PRODUCE]
            self.versions[ApiKey.PRODUCE] = min(_ADDS_BY_WRITING_SINCE - 1, produce)

    def speaks(self, generation: Generation) -> dict[ApiKey, int]:
        return {**super().speaks(generation), **_SPEAKS[generation]}

    # -- what the application asks for

    def start(self) -> None:
        """Gets an epoch, which fences earlier instances, even if there is nothing to send yet."""
        if not self._busy:
            self._busy = True
            self._initialize()

    def end(self, commit: bool) -> None:
        """Ends the transaction once all records are written."""
        if not self.failed and (self.state is State.IN_TRANSACTION or self._batches):
            self._batches.append(End(-1, 0, commit=commit))
            self._go_on()

    def _take_up(self) -> None:
        first = self._batches[0] if self._batches else None
        if self.state is State.UNINITIALIZED:
            self._initialize()
        elif first is None or (isinstance(first, End) and self._in_flight):
            self._busy = False
        elif isinstance(first, End):
            self._end(first.commit)
        else:
            if self.state is State.READY:
                self.state, self.transaction = State.IN_TRANSACTION, Transaction(self.name)
            if self._added or self._per_transaction:
                self._added = True
                self._send()
            else:
                self._add_partition()

    def _number(self, batch: Batch) -> None:
        super()._number(batch)
        for number in range(batch.first, batch.first + batch.count):
            self.scene.ledger.transactions[number] = self.transaction

    # -- what it asks the coordinator

    def _ask_coordinator(self, api: ApiKey, request: Any, then: Callable[[Any, bool], None]) -> None:
        """`then` gets the answer, and whether this is a retry: then an earlier request may have been carried
        out."""
        unsure = False

        def ask() -> None:
            coordinator = self.transaction_coordinator(self.transactional_id)
            if coordinator == NO_BROKER:
                self.later(ask)
            else:
                self.ask(coordinator, api, request, answered, "coordinator")

        def answered(answer: Any) -> None:
            nonlocal unsure
            if answer is None or _error_of(answer) in _AGAIN:
                unsure = True
                self.later(ask)
            else:
                then(answer, unsure)

        ask()

    def _initialize(self) -> None:
        request = InitProducerIdRequest(self.transactional_id, self.setting.transaction_timeout_ms)
        if self._bump_due and self.producer_id != NO_ID:
            request.producer_id, request.producer_epoch = self.producer_id, self.epoch

        def answered(answer: InitProducerIdResponse, unsure: bool) -> None:
            if answer.error_code:
                self._fail(E(answer.error_code))
                return
            self._bump_due = False
            self.state = State.READY
            self._become(answer.producer_id, answer.producer_epoch)
            self._take_up()

        self._ask_coordinator(ApiKey.INIT_PRODUCER_ID, request, answered)

    def _add_partition(self) -> None:
        topics = [NamePartitions(self.topic, [self.partition])]
        asked = AddPartitionsToTxnTransaction(
            self.transactional_id, self.producer_id, self.epoch, topics=topics
        )

        def answered(answer: AddPartitionsToTxnResponse, unsure: bool) -> None:
            error = _error_of(answer)
            if not error:
                self._added = True
                self._send()
            elif error is E.INVALID_PRODUCER_ID_MAPPING and self._bumps:
                self._busy = False
                self._abort()
            else:
                self._fail(error)

        if self.scene.recording:
            self.tell(f"adds {self.topic}-{self.partition} to its transaction, epoch {self.epoch}")
        request = AddPartitionsToTxnRequest([asked])
        self._ask_coordinator(ApiKey.ADD_PARTITIONS_TO_TXN, request, answered)

    def _end(self, commit: bool) -> None:
        if self.state is not State.IN_TRANSACTION or not self._added:
            # There is nothing to end, so a client sends no request.
            self._batches.popleft()
            self.state = State.UNINITIALIZED if self._bump_due else State.READY
            self._done()
            return
        self.transaction.outcome = Ending.COMMITTING if commit else Ending.ABORTED

        def answered(answer: EndTxnResponse, unsure: bool) -> None:
            error = E(answer.error_code)
            if not error:
                self._ended(Ending.COMMITTED if commit else Ending.ABORTED)
                if answer.producer_id != NO_ID:
                    self._become(answer.producer_id, answer.producer_epoch)
                self._take_up()
                return
            if error in _FENCED and not unsure:
                self.transaction.outcome = Ending.ABORTED
            self._fail(error)

        if self.scene.recording:
            self.tell(f"{'commits' if commit else 'aborts'} its transaction, epoch {self.epoch}")
        request = EndTxnRequest(self.transactional_id, self.producer_id, self.epoch, commit)
        self._ask_coordinator(ApiKey.END_TXN, request, answered)

    def _ended(self, outcome: Ending) -> None:
        self.transaction.outcome = outcome
        self._batches.popleft()
        self._added = False
        self.state = State.UNINITIALIZED if self._bump_due else State.READY
        if outcome is Ending.COMMITTED:
            self._failures = 0
            self.scene.tell(self.name, "has committed")

    # -- errors

    def _refused(self, batch: Batch, error: ErrorCode, log_start_offset: int) -> None:
        generation = self.setting.generation
        if error is E.PRODUCER_FENCED or (error is E.INVALID_PRODUCER_EPOCH and generation in _OLD):
            self._fail(error)
            return
        match self._reaction(batch, error, log_start_offset):
            case Reaction.RETRY:
                self._retry(batch, refresh=False)
            case Reaction.RESET:
                self._begin_again()
                self._retry(batch, refresh=False)
            case _:
                self.production.reported(self, error)
                if error is E.UNKNOWN_PRODUCER_ID and generation not in _OLD:
                    self._begin_again()
                self._abort()

    def _abort(self) -> None:
        """Drops the unsent records of this transaction, and aborts it; continues in the next epoch if it
        can."""
        self._failures += 1
        if self._failures > _FAILURES:
            self._close()
            return
        self._bump_due = self._bumps
        self._give_up(list(itertools.takewhile(lambda each: not isinstance(each, End), self._batches)))
        if self._batches:
            self._batches.popleft()
        self._batches.appendleft(End(-1, 0, commit=False))
        self._go_on()

    def _close(self) -> None:
        self.tell("is closed")
        self.failed = True
        self.production.ended(self)


def _error_of(answer: Any) -> ErrorCode:
    if isinstance(answer, AddPartitionsToTxnResponse):
        (topic,) = answer.results_by_transaction[0].topic_results
        return E(topic.results_by_partition[0].partition_error_code)
    return E(answer.error_code)
