"""Requests for records: Produce, Fetch, and what looks up offsets."""

from dataclasses import replace
from typing import Any, Final

from ..acls import Operation, ResourceType
from ..cluster.authorizer import Asker
from ..cluster.call import Call
from ..outcome import CLOSE
from ..policies.security.idempotent_write import idempotent_write
from ..portions import portions
from ..protocol.api_keys import ApiKey
from ..protocol.messages.produce import ProduceRequest
from ..protocol.record_batch import ATTRIBUTES_AT, TRANSACTIONAL
from .refusing import each, leaving_out, parted, refused, topic_named
from .verdict import Judging, Rule, Verdict

TOPIC: Final = ResourceType.TOPIC
_PRODUCER_ID: Final = slice(43, 51)
"""Where a batch has it."""
_NO_PRODUCER: Final = b"\xff" * 8


def produce(asker: Asker, call: Call, request: ProduceRequest) -> Judging:
    """Transactional records need the transactional id, and every topic WRITE. Without acks, a refusal closes
    the connection (`KafkaApis.handleProduceRequest`)."""
    needs_cluster = call.policies[idempotent_write] == "cluster"
    transactional = idempotent = False
    for portion in portions(request.topic_data):
        for topic in portion:
            for partition in topic.partition_data:
                records = partition.records
                if records is not None and len(records) > _PRODUCER_ID.stop:
                    transactional |= bool(records[ATTRIBUTES_AT] & TRANSACTIONAL)
                    if needs_cluster:
                        idempotent |= bytes(records[_PRODUCER_ID]) != _NO_PRODUCER
        yield
    kind = ResourceType.TRANSACTIONAL_ID
    if transactional:
        name = request.transactional_id
        if name is None or not asker.may(Operation.WRITE, kind, name):
            return (yield from refused(call, ApiKey.PRODUCE, request, kind))
    elif idempotent and not asker.may(Operation.IDEMPOTENT_WRITE, ResourceType.CLUSTER):
        return (yield from refused(call, ApiKey.PRODUCE, request, ResourceType.CLUSTER))
    allowed, others = yield from parted(
        call, request.topic_data, topic_named, lambda name: asker.may(Operation.WRITE, TOPIC, name)
    )
    if others and request.acks == 0:
        if not allowed:
            return Verdict(request, CLOSE)
        return Verdict(replace(request, topic_data=allowed), then=lambda _: CLOSE)
    return (yield from leaving_out(call, ApiKey.PRODUCE, request, "topic_data", allowed, others, TOPIC))


def offset_for_leader_epoch(asker: Asker, call: Call, request: Any) -> Verdict | Judging:
    """Followers need CLUSTER_ACTION, others DESCRIBE on each topic
    (`KafkaApis.handleOffsetForLeaderEpochRequest`)."""
    if asker.may(Operation.CLUSTER_ACTION, ResourceType.CLUSTER, quietly=True):
        return Verdict(request)
    return _DESCRIBED(asker, call, request)


_DESCRIBED: Final[Rule] = each(
    ApiKey.OFFSET_FOR_LEADER_EPOCH, Operation.DESCRIBE, TOPIC, "topics", topic_named
)
