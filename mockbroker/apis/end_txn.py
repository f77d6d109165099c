"""EndTxn (26): commits or aborts a transaction (KIP-98); v5 also bumps the producer's epoch (KIP-890)."""

from ..cluster.call import Call
from ..coordinators.reply import Reply
from ..coordinators.transaction import EPOCH_BUMP_VERSION
from ..coordinators.transaction_rules import ProducerIdAndEpoch
from ..policies.transactions.epoch_bump import epoch_bump
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from .fencing import shown
from .registry import handles

_BUMPS_SINCE = 5


@handles(
    ApiKey.END_TXN,
    changes=True,
    source="""KafkaApis.handleEndTxnRequest (PRODUCER_FENCED is INVALID_PRODUCER_EPOCH before v2),
        TransactionCoordinator.endTransaction""",
    top_retry="""NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS,
        CONCURRENT_TRANSACTIONS""",
    top="""INVALID_PRODUCER_EPOCH v0-1, PRODUCER_FENCED v2+, INVALID_PRODUCER_ID_MAPPING, INVALID_TXN_STATE,
        INVALID_REQUEST, TRANSACTIONAL_ID_AUTHORIZATION_FAILED""",
)
def end_txn(call: Call, request: EndTxnRequest) -> object:
    """Answered once the decision is in the coordinator's log; the markers follow."""
    reply: Reply[EndTxnResponse] = Reply(call)

    def done(error: ErrorCode, producer_id: int, epoch: int) -> None:
        reply.complete(EndTxnResponse(0, shown(call, ApiKey.END_TXN, error), producer_id, epoch))

    bumps = call.version >= _BUMPS_SINCE and call.policies[epoch_bump].per_transaction
    call.broker.transactions.end(
        request.transactional_id,
        ProducerIdAndEpoch(request.producer_id, request.producer_epoch),
        request.committed,
        EPOCH_BUMP_VERSION if bumps else 0,
        done,
    )
    return reply.outcome()
