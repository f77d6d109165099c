"""TxnOffsetCommit (28): a group's positions, as part of a transaction (KIP-98, KIP-447, KIP-890)."""

from collections.abc import Callable, Iterable

from ..cluster.call import Call
from ..coordinators.members import Claim
from ..coordinators.offsets import CommittedOffset, Key
from ..coordinators.reply import Reply
from ..coordinators.transaction_rules import ProducerIdAndEpoch
from ..outcome import Steps
from ..policies.offsets.refused_transactional_commit import refused_transactional_commit
from ..policies.offsets.repeated_partitions import repeated_partitions
from ..policies.transactions.loading_transactional_commit import loading_transactional_commit
from ..policies.transactions.transaction_verification import transaction_verification
from ..portions import portions
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.common import PartitionCode
from ..protocol.messages.offset_commit import OffsetCommitRequestPartition, OffsetCommitResponseTopic
from ..protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)
from ..protocol.record_batch import MAGIC
from ..replication.partition import Partition
from .answered_topics import AnsweredTopics
from .registry import handles
from .verification import Errors, ask_coordinator, knows_stale

E = ErrorCode
_BY_ID_SINCE = 6
_LOADING_SINCE = 2
_NO_KEYS: frozenset[Key] = frozenset()
Done = Callable[[ErrorCode, frozenset[Key]], None]


@handles(
    ApiKey.TXN_OFFSET_COMMIT,
    changes=True,
    source="""KafkaApis.handleTxnOffsetCommitRequest (COORDINATOR_LOAD_IN_PROGRESS is
        COORDINATOR_NOT_AVAILABLE before v2), GroupCoordinatorService.commitTransactionalOffsets,
        OffsetMetadataManager.commitTransactionalOffset, AddPartitionsToTxnManager,
        CoordinatorOperationExceptionHelper""",
    partition_retry="""NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS v2+,
        UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID v6+, CONCURRENT_TRANSACTIONS""",
    partition="""INVALID_PRODUCER_EPOCH, INVALID_PRODUCER_ID_MAPPING, INVALID_TXN_STATE, TRANSACTION_ABORTABLE
        v4+, ILLEGAL_GENERATION, UNKNOWN_MEMBER_ID v3+, FENCED_INSTANCE_ID v3+, STALE_MEMBER_EPOCH v3+,
        INVALID_GROUP_ID, GROUP_ID_NOT_FOUND, OFFSET_METADATA_TOO_LARGE, INVALID_COMMIT_OFFSET_SIZE,
        UNSUPPORTED_FOR_MESSAGE_FORMAT, TOPIC_AUTHORIZATION_FAILED, GROUP_AUTHORIZATION_FAILED,
        TRANSACTIONAL_ID_AUTHORIZATION_FAILED""",
)
def txn_offset_commit(call: Call, request: TxnOffsetCommitRequest) -> Steps:
    """Partitions that don't exist get an error, and the others are committed."""
    reply: Reply[TxnOffsetCommitResponse] = Reply(call)
    if call.version >= _BY_ID_SINCE:
        _name(call, request)
    known: dict[Key, OffsetCommitRequestPartition] = {}
    for topic in request.topics:
        for few in portions(topic.partitions):
            for asked in few:
                if call.cluster.partition(topic.name, asked.partition_index) is not None:
                    known[topic.name, asked.partition_index] = asked
            yield

    def done(error: ErrorCode, too_long: frozenset[Key]) -> None:
        reply.complete(_answer(call, request, frozenset(known), error, too_long))

    if not known:
        done(E.NONE, _NO_KEYS)
    elif error := call.broker.groups.refuses(request.group_id):
        done(error, _NO_KEYS)
    elif (partition := call.cluster.offsets_partition(request.group_id).at(call.broker.id)) is None:
        done(E.NOT_COORDINATOR, _NO_KEYS)
    else:
        commit = _Commit(call, partition, request, done)
        for some in portions(known.items()):
            commit.take(some)
            yield
        commit.start()
    return reply.outcome()


class _Commit:
    """Offsets of a transaction: verified first if the release does so, then appended; done once
    replicated."""

    def __init__(
        self,
        call: Call,
        partition: Partition,
        request: TxnOffsetCommitRequest,
        done: Done,
    ) -> None:
        self._call = call
        self._request = request
        self._done = done
        self._producer = ProducerIdAndEpoch(request.producer_id, request.producer_epoch)
        self._partition = partition
        self._limit = 2 * call.broker.groups.settings.offset_metadata_max
        self._expire_ms = call.broker.groups.expiry.expire_ms()
        self._too_long: set[Key] = set()
        self._offsets: dict[Key, CommittedOffset] = {}

    def take(self, known: Iterable[tuple[Key, OffsetCommitRequestPartition]]) -> None:
        """Adds offsets of partitions that exist."""
        topics = self._call.cluster.topics
        for key, asked in known:
            metadata = asked.committed_metadata or ""
            if len(metadata.encode("utf-16-le")) > self._limit:
                self._too_long.add(key)
            elif (topic := topics.get(key[0])) is not None:
                self._offsets[key] = CommittedOffset(
                    asked.committed_offset,
                    asked.committed_leader_epoch,
                    metadata,
                    self._call.now_ms,
                    self._expire_ms,
                    topic.id.bytes,
                )

    def start(self) -> None:
        call, policy = self._call, self._call.policies[transaction_verification]
        if call.policies[refused_transactional_commit] == "begins-group":
            # This precedes verification (`GroupCoordinator.handleTxnCommitOffsets`).
            call.broker.groups.create(self._request.group_id)
        if policy is None or not policy.offsets:
            self._append()
            return
        epoch = None if policy.any_epoch else self._producer.epoch
        if self._partition.log.producers.in_transaction(self._producer.id, epoch):
            self._append()
            return
        if knows_stale(call, self._partition, self._producer):
            self._done(E.INVALID_PRODUCER_EPOCH, _NO_KEYS)
            return
        adds = call.version >= policy.offsets_add
        key = self._partition.topic.name, self._partition.index

        def asked(errors: Errors) -> None:
            error = errors.get(key, E.NONE)
            if error is E.INVALID_TXN_STATE and call.version >= policy.offsets_abortable:
                error = E.TRANSACTION_ABORTABLE
            if error:
                self._done(error, _NO_KEYS)
            else:
                self._append()

        ask_coordinator(call, self._request.transactional_id, self._producer, frozenset({key}), adds, asked)

    def _append(self) -> None:
        call, request, partition = self._call, self._request, self._partition
        claim = Claim(request.generation_id, request.member_id, request.group_instance_id)
        error = call.broker.groups.may_commit_in_transaction(request.group_id, claim, self._offsets)
        entry = partition.log.producers.entries.get(request.producer_id)
        if not error and entry is not None and request.producer_epoch < entry.epoch:
            error = E.INVALID_PRODUCER_EPOCH
        if error or not self._offsets:
            self._done(error, frozenset(self._too_long))
            return
        if partition.settings.magic != MAGIC:
            self._done(E.UNSUPPORTED_FOR_MESSAGE_FORMAT, _NO_KEYS)
            return
        group = call.broker.groups.groups[request.group_id]

        def answered(error: ErrorCode) -> None:
            self._done(error, frozenset(self._too_long))

        call.broker.groups.commit_in_transaction(group, self._producer, self._offsets, answered)


def _name(call: Call, request: TxnOffsetCommitRequest) -> None:
    """Gives topics the names that their ids have."""
    for topic in request.topics:
        found = None if topic.topic_id is None else call.cluster.topic_ids.get(topic.topic_id)
        topic.name = "" if found is None else found.name


def _answer(
    call: Call,
    request: TxnOffsetCommitRequest,
    known: frozenset[Key],
    error: ErrorCode,
    too_long: frozenset[Key],
) -> TxnOffsetCommitResponse:
    if (
        error is E.COORDINATOR_LOAD_IN_PROGRESS
        and call.version < _LOADING_SINCE
        and call.policies[loading_transactional_commit] == "not-available"
    ):
        error = E.COORDINATOR_NOT_AVAILABLE

    def code(key: Key) -> ErrorCode:
        if key not in known:
            by_id = call.version >= _BY_ID_SINCE and not key[0]
            return E.UNKNOWN_TOPIC_ID if by_id else E.UNKNOWN_TOPIC_OR_PARTITION
        return error or (E.OFFSET_METADATA_TOO_LARGE if key in too_long else E.NONE)

    answer: AnsweredTopics[OffsetCommitResponseTopic] = AnsweredTopics()

    def add(asked: TxnOffsetCommitRequestTopic, key: Key) -> None:
        topic = answer.of(
            asked,
            asked.topic_id or asked.name,
            lambda: OffsetCommitResponseTopic(asked.topic_id, [], asked.name),
        )
        topic.partitions.append(PartitionCode(key[1], code(key)))

    named = [(asked, (asked.name, p.partition_index)) for asked in request.topics for p in asked.partitions]
    for asked, key in named:
        if key not in known:
            add(asked, key)
    existing = [(asked, key) for asked, key in named if key in known]
    if call.policies[repeated_partitions] == "once":
        existing = list({each[1]: each for each in existing}.values())
    else:
        answer.begin_asked()
    for asked, key in existing:
        add(asked, key)
    return TxnOffsetCommitResponse(topics=answer.topics)
