"""Requests about the states of share partitions, which brokers send to the share coordinator (KIP-932)."""

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol
from uuid import UUID

from ..cluster.call import Call
from ..outcome import PARKED, Steps
from ..portions import FEW, Pace
from ..protocol.messages.of_share_groups import ShareStateOutcome, ShareStateOutcomes
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
    ask: Callable[[SharePartitionKey, Any, Done], Steps | None],
    response: Callable[[list[Any]], Any],
    result: Callable[[int, Kept], Any] = _outcome,
    topic: Callable[[UUID | None, list[Any]], Any] = ShareStateOutcomes,
    fill: Callable[[Any, Kept], Steps] | None = None,
) -> Steps:
    """The answer when every partition is done: what takes long is done in parts, to `ask` and to `fill` a
    result. A request without a group is answered with nothing, and so is a topic without partitions."""
    found: dict[UUID | None, dict[int, Kept]] = {}
    waiting, pace = 1, Pace(FEW)

    def made() -> Steps:
        topics = []
        for topic_id, parts in found.items():
            results = []
            for partition, kept in parts.items():
                one = result(partition, kept)
                if fill is not None:
                    yield from fill(one, kept)
                results.append(one)
                if pace.enough():
                    yield
            topics.append(topic(topic_id, results))
        return response(topics)

    def done(topic_id: UUID | None, partition: int, kept: Kept) -> None:
        nonlocal waiting
        found[topic_id][partition] = kept
        waiting -= 1
        if not waiting:
            call.environment.contain(late, call)

    def late() -> None:
        answer = call.in_parts(made())
        if answer is not PARKED:
            call.answer(answer)

    for asked in request.topics if request.group_id else ():
        for each in asked.partitions:
            key = SharePartitionKey(request.group_id, asked.topic_id or UUID(int=0), each.partition)
            waiting += 1
            found.setdefault(asked.topic_id, {})
            steps = ask(key, each, partial(done, asked.topic_id, each.partition))
            if steps is not None:
                yield from steps
            if pace.enough():
                yield
    waiting -= 1
    return PARKED if waiting else (yield from made())
