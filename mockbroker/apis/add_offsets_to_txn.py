"""AddOffsetsToTxn (25): a group's offsets become part of a transaction (KIP-98)."""

from ..cluster.call import Call
from ..coordinators.reply import Reply
from ..coordinators.transaction_rules import ProducerIdAndEpoch
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from .fencing import shown
from .registry import handles


@handles(
    ApiKey.ADD_OFFSETS_TO_TXN,
    changes=True,
    source="""KafkaApis.handleAddOffsetsToTxnRequest (PRODUCER_FENCED is INVALID_PRODUCER_EPOCH before v2),
        TransactionCoordinator.handleAddPartitionsToTransaction""",
    top_retry="""NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS,
        CONCURRENT_TRANSACTIONS""",
    top="""INVALID_PRODUCER_EPOCH v0-1, PRODUCER_FENCED v2+, INVALID_PRODUCER_ID_MAPPING, INVALID_TXN_STATE,
        INVALID_REQUEST, GROUP_AUTHORIZATION_FAILED, TRANSACTIONAL_ID_AUTHORIZATION_FAILED""",
)
def add_offsets_to_txn(call: Call, request: AddOffsetsToTxnRequest) -> object:
    """Adds the partition of `__consumer_offsets` that holds the group."""
    reply: Reply[AddOffsetsToTxnResponse] = Reply(call)

    def done(error: ErrorCode) -> None:
        reply.complete(AddOffsetsToTxnResponse(error_code=shown(call, ApiKey.ADD_OFFSETS_TO_TXN, error)))

    partition = call.cluster.offsets_partition(request.group_id)
    call.broker.transactions.add(
        request.transactional_id,
        ProducerIdAndEpoch(request.producer_id, request.producer_epoch),
        frozenset({(partition.topic.name, partition.index)}),
        0,
        done,
    )
    return reply.outcome()
