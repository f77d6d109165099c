"""Asks the coordinator before the first batch of a transaction is appended (KIP-890; `ReplicaManager.scala`,
`AddPartitionsToTxnManager.scala`)."""

from collections.abc import Callable, Mapping
from typing import Final

from ..cluster.call import Call
from ..coordinators.transaction import EPOCH_BUMP_VERSION, TopicPartition
from ..coordinators.transaction_rules import ProducerIdAndEpoch
from ..outcome import PARKED
from ..policies.transactions.stale_epoch_check import stale_epoch_check
from ..policies.transactions.transaction_verification import transaction_verification
from ..policies.transactions.verified_compression import verified_compression
from ..protocol import record_batch
from ..protocol.api_error import ApiError
from ..protocol.errors import ErrorCode
from ..protocol.messages.produce import PartitionProduceResponse, ProduceRequest, ProduceResponse
from ..replication.partition import Partition
from .produced_partitions import Asked, led_by_other, refused

E = ErrorCode
Append = Callable[[Call, ProduceRequest, ProduceResponse, list[Asked]], object]
Errors = Mapping[TopicPartition, ErrorCode]

_UNSURE: Final = {E.COORDINATOR_LOAD_IN_PROGRESS, E.COORDINATOR_NOT_AVAILABLE, E.NOT_COORDINATOR}
"""Errors after which older clients would not try again."""


def ask_coordinator(
    call: Call,
    transactional_id: str,
    producer: ProducerIdAndEpoch,
    keys: frozenset[TopicPartition],
    adds: bool,
    done: Callable[[Errors], None],
) -> None:
    """Verifies that the partitions are part of the transaction, or adds them; `done` is called with the
    errors.

    A partition that is not part of the transaction gets INVALID_TXN_STATE, and a fenced producer
    INVALID_PRODUCER_EPOCH, which all producers know.
    """
    broker = call.cluster.brokers.get(call.cluster.transaction_partition(transactional_id).leader)
    if broker is None:
        done(dict.fromkeys(keys, E.COORDINATOR_NOT_AVAILABLE))
        return

    def added(error: ErrorCode) -> None:
        known = E.INVALID_PRODUCER_EPOCH if error is E.PRODUCER_FENCED else error
        done(dict.fromkeys(keys, known) if error else {})

    if adds:
        broker.transactions.add(transactional_id, producer, keys, EPOCH_BUMP_VERSION, added)
        return
    try:
        missing = broker.transactions.missing(transactional_id, producer, keys)
    except ApiError as error:
        added(error.code)
    else:
        done(dict.fromkeys(missing, E.INVALID_TXN_STATE))


def knows_stale(call: Call, partition: Partition, producer: ProducerIdAndEpoch) -> bool:
    """Whether the leader refuses a stale epoch before it asks the coordinator."""
    entry = partition.log.producers.entries.get(producer.id)
    first = call.policies[stale_epoch_check] == "leader-first"
    return first and entry is not None and producer.epoch < entry.epoch


class Verification:
    """A Produce request of a transactional producer, before it is appended."""

    def __init__(
        self, call: Call, request: ProduceRequest, answer: ProduceResponse, asked: list[Asked], append: Append
    ) -> None:
        policies, number = call.environment.policies, call.environment.configs.broker_int
        verified = policies[transaction_verification]
        assert verified is not None
        self._call = call
        self._request = request
        self._answer = answer
        self._looked_at = asked
        self._first: list[Asked] = []
        self._any_epoch = verified.any_epoch
        self._append = append
        self._reads_compressed = policies[verified_compression] == "accepted"
        self._abortable = call.version >= verified.produce_abortable
        self._adds = call.version >= verified.produce_adds
        self._backoff_ms = number("add.partitions.to.txn.retry.backoff.ms")
        self._retry_until_ms = call.now_ms + number("add.partitions.to.txn.retry.backoff.max.ms")
        self._outcome: object = None
        self._parked = False

    def start(self) -> object:
        """The answer, or PARKED."""
        self._ask()
        if self._outcome is None:
            self._parked = True
            # The bytes belong to the connection, which reads on.
            for each in self._looked_at:
                if each.appends:
                    each.batch = bytes(each.batch)
            return PARKED
        return self._outcome

    def _ask(self) -> None:
        for each in self._looked_at:
            if self._is_verified(each) and each.partition.leader != self._call.broker.id:
                each.refuse(led_by_other(each.partition))
        first = [each for each in self._looked_at if self._is_first(each)]
        for each in first:
            if knows_stale(self._call, each.partition, ProducerIdAndEpoch(*each.header[9:11])):
                each.refuse(refused(each.index, E.INVALID_PRODUCER_EPOCH))
        self._first = first = [each for each in first if each.appends]
        enabled = self._call.environment.configs.broker_bool("transaction.partition.verification.enable")
        if not first or not (enabled or self._adds):
            self._settle()
            return
        for each in first:
            header = each.header
            each.partition.log.producers.verify(
                header.producer_id, header.producer_epoch, header.base_sequence, self._call.now_ms, self._adds
            )
        producer = ProducerIdAndEpoch(first[0].header.producer_id, first[0].header.producer_epoch)
        keys = frozenset((each.partition.topic.name, each.index) for each in first)
        transactional_id = self._request.transactional_id or ""
        ask_coordinator(
            self._call,
            transactional_id,
            producer,
            keys,
            self._adds,
            self._asked,
        )

    def _is_first(self, each: Asked) -> bool:
        """Whether a batch is the first of its transaction in a partition that this broker leads."""
        if not self._is_verified(each):
            return False
        epoch = None if self._any_epoch else each.header.producer_epoch
        return not each.partition.log.producers.in_transaction(each.header.producer_id, epoch)

    @staticmethod
    def _is_verified(each: Asked) -> bool:
        return each.appends and each.in_transaction and not each.partition.topic.internal

    def _asked(self, errors: Errors) -> None:
        """The coordinator has answered. It is asked again for a client that adds partitions by writing, which
        would wait too long if it had to send everything again."""
        concurrent = E.CONCURRENT_TRANSACTIONS in errors.values()
        if self._adds and concurrent and self._call.now_ms < self._retry_until_ms and self._request.acks:
            self._call.environment.wait(self._backoff_ms, self._ask)
            return
        for each in self._first:
            error = errors.get((each.partition.topic.name, each.index), E.NONE)
            if error:
                each.refuse(self._refused(each.index, error))
            elif each.header.attributes & record_batch.COMPRESSION_MASK and not self._reads_compressed:
                start = each.partition.log.start_offset
                each.refuse(refused(each.index, E.INVALID_RECORD, None, [], start))
        self._settle()

    def _refused(self, index: int, error: ErrorCode) -> PartitionProduceResponse:
        """The coordinator's error, as a producer of this version knows it."""
        if error is E.INVALID_TXN_STATE:
            if self._abortable:
                return refused(index, E.TRANSACTION_ABORTABLE)
            return refused(index, error, "Partition was not added to the transaction")
        if error in _UNSURE or (error is E.CONCURRENT_TRANSACTIONS and not self._adds):
            text = "Unable to verify the partition has been added to the transaction. Underlying error: "
            return refused(index, E.NOT_ENOUGH_REPLICAS, text + error.name)
        return refused(index, error)

    def _settle(self) -> None:
        outcome = self._append(self._call, self._request, self._answer, self._looked_at)
        if not self._parked:
            self._outcome = outcome
        elif outcome is not PARKED:
            self._call.answer(outcome)
