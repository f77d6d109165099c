"""InitProducerId (22): a producer id and epoch (KIP-98, KIP-360)."""

from functools import partial

from ..cluster.call import Call
from ..coordinators.reply import Reply
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from .fencing import shown
from .registry import handles

_NONE = -1


@handles(
    ApiKey.INIT_PRODUCER_ID,
    changes=True,
    source="""KafkaApis.handleInitProducerIdRequest (PRODUCER_FENCED is INVALID_PRODUCER_EPOCH before v4,
        KIP-588), TransactionCoordinator.handleInitProducerId,
        TransactionStateManager.appendTransactionToLog, ProducerIdManager (COORDINATOR_LOAD_IN_PROGRESS
        while it waits for a block of ids, REQUEST_TIMED_OUT)""",
    top_retry="""NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS,
        CONCURRENT_TRANSACTIONS, REQUEST_TIMED_OUT""",
    top="""INVALID_PRODUCER_EPOCH v0-3, PRODUCER_FENCED v4+, INVALID_PRODUCER_ID_MAPPING v3+,
        INVALID_TRANSACTION_TIMEOUT, INVALID_TXN_STATE, INVALID_REQUEST, UNSUPPORTED_VERSION v6+,
        TRANSACTIONAL_ID_AUTHORIZATION_FAILED, CLUSTER_AUTHORIZATION_FAILED""",
)
def init_producer_id(call: Call, request: InitProducerIdRequest) -> object:
    """Without a transactional id the answer is always a new id with epoch 0, whatever was sent."""
    if (request.producer_id == _NONE) != (request.producer_epoch == _NONE) or request.transactional_id == "":
        return _refused(ErrorCode.INVALID_REQUEST)
    if request.transactional_id is None:
        return InitProducerIdResponse(producer_id=call.cluster.controller.new_producer_id(), producer_epoch=0)
    from ..coordinators.transaction_rules import ProducerIdAndEpoch

    expected = None
    if request.producer_id != _NONE:
        expected = ProducerIdAndEpoch(request.producer_id, request.producer_epoch)
    if request.enable2_pc and not call.environment.configs.broker_bool("transaction.two.phase.commit.enable"):
        return _refused(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    if request.keep_prepared_txn:
        return _refused(ErrorCode.UNSUPPORTED_VERSION)
    reply: Reply[InitProducerIdResponse] = Reply(call)
    call.broker.transactions.initialize(
        request.transactional_id, request.transaction_timeout_ms, expected, partial(_done, call, reply)
    )
    return reply.outcome()


def _done(
    call: Call, reply: Reply[InitProducerIdResponse], error: ErrorCode, producer_id: int, epoch: int
) -> None:
    code = shown(call, ApiKey.INIT_PRODUCER_ID, error)
    reply.complete(InitProducerIdResponse(error_code=code, producer_id=producer_id, producer_epoch=epoch))


def _refused(code: ErrorCode) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=code, producer_id=-1, producer_epoch=-1)
