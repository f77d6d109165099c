"""AddOffsetsToTxn: a group becomes part of a transaction (KIP-98)."""

from typing import Any

from ...rig.transaction_scene import TransactionalProducer
from ..registry import Scene, Steps


def groups(s: Scene) -> Steps:
    producer = TransactionalProducer(s)
    producer.start()

    def add(**other: Any) -> Any:
        return s.ask({**producer.ids, "group_id": s.name("g"), **other})

    yield "old epoch", add(producer_epoch=producer.epoch - 1)
    yield "other id", add(producer_id=10**15)
    yield "unknown transactional id", add(transactional_id=s.name("unknown"))
    yield "state", producer.state()
    yield "added", add()
    yield "again", add()
    yield "another group", add(group_id=s.name("h"))
    yield "state", producer.state()
    producer.end(committed=False)
