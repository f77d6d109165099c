"""ListTransactions: filters (KIP-664, KIP-994, KIP-1152)."""

from typing import Any

from ...rig.transaction_scene import TransactionalProducer
from ..registry import Scene, Steps


def filters(s: Scene) -> Steps:
    """Filtering by our producer ids leaves out other transactional ids."""
    topic = s.topic()
    busy, idle = TransactionalProducer(s, "busy"), TransactionalProducer(s, "idle")
    busy.begin(topic)

    def listed(**fields: Any) -> Any:
        return s.ask({"producer_id_filters": [busy.id, idle.id], **fields})

    yield "both", listed()
    yield "by producer id", listed(producer_id_filters=[idle.id])
    yield "by state", listed(state_filters=["Ongoing"])
    yield "two states", listed(state_filters=["Ongoing", "Empty"])
    yield "unknown states", listed(state_filters=["Sleeping", "PrepareEpochFence", "ongoing"])
    if s.version >= 1:
        yield "by duration", listed(duration_filter=3_600_000)
        yield "any duration", listed(duration_filter=-1)
    if s.version >= 2:
        yield "by pattern", listed(transactional_id_pattern="bu.*")
        yield "a part of the name", listed(transactional_id_pattern="us")
        yield "no pattern", listed(transactional_id_pattern="*")
        yield "an empty pattern", listed(transactional_id_pattern="")
    busy.end(committed=False)


def filters_given_twice(s: Scene) -> Steps:
    producer = TransactionalProducer(s)
    ids = [producer.id, producer.id]
    yield "producer id", s.ask(producer_id_filters=ids, state_filters=[])
    yield "state", s.ask(producer_id_filters=ids, state_filters=["Empty", "Empty"])
    yield "unknown state", s.ask(producer_id_filters=ids, state_filters=["Asleep", "Asleep"])
