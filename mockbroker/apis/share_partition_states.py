"""Requests about the states of share partitions, which brokers send to the share coordinator (KIP-932)."""

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol
from uuid import UUID

from ..cluster.call import Call
from ..coordinators.reply import Reply
from ..outcome import Steps
from ..portions import FEW, Pace
from ..protocol.messages.common import ShareStateOutcome, ShareStateOutcomes
from ..protocol.share_state_log import SharePartitionKey
from ..share_partitions.kept import Done, Kept


class _Asked(Protocol):
    group_id: str
    topics: Any


def _outcome(partition: int, kept: Kept) -> ShareStateOutcome:
    return ShareStateOutcome(partition, kept.error, kept.message)


def answered(
    call: Call,
    request: _Asked,
    ask: Callable[[SharePartitionKey, Any, Done], None],
    response: Callable[[list[Any]], Any],
    result: Callable[[int, Kept], Any] = _outcome,
    topic: Callable[[UUID | None, list[Any]], Any] = ShareStateOutcomes,
) -> Steps:
    """The answer when every partition is done. A request without a group is answered with nothing, and so is
    a topic without partitions."""
    reply: Reply[Any] = Reply(call)
    found: dict[UUID | None, dict[int, Any]] = {}
    waiting, pace = 1, Pace(FEW)

    def settled() -> None:
        nonlocal waiting
        waiting -= 1
        if not waiting:
            reply.complete(response([topic(each, list(parts.values())) for each, parts in found.items()]))

    def done(topic_id: UUID | None, partition: int, kept: Kept) -> None:
        found[topic_id][partition] = result(partition, kept)
        settled()

    for asked in request.topics if request.group_id else ():
        for each in asked.partitions:
            key = SharePartitionKey(request.group_id, asked.topic_id or UUID(int=0), each.partition)
            waiting += 1
            found.setdefault(asked.topic_id, {})
            ask(key, each, partial(done, asked.topic_id, each.partition))
            if pace.enough():
                yield
    settled()
    return reply.outcome()
