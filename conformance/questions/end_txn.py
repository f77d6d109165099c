"""EndTxn: commits and aborts, once and again, of the right and of wrong producers (KIP-98, KIP-890)."""

from typing import Any

from ...rig.transaction_scene import TransactionalProducer
from ..registry import Scene, Steps


def _end(s: Scene, producer: TransactionalProducer, committed: bool, **other: Any) -> Any:
    answer = s.ask({**producer.ids, "committed": committed, **other})
    producer.settle()
    if isinstance(answer, dict) and answer.get("producer_id", -1) >= 0:
        s.normaliser.name_producer(answer["producer_id"])
    return answer


def _both(s: Scene, first: bool) -> Steps:
    topic = s.topic()
    producer = TransactionalProducer(s)
    producer.begin(topic)
    yield "first", _end(s, producer, first)
    yield "state", producer.settle()
    yield "the same again", _end(s, producer, first)
    yield "the opposite", _end(s, producer, not first)
    yield "the next epoch", _end(s, producer, first, producer_epoch=producer.epoch + 1)
    yield "the one after", _end(s, producer, first, producer_epoch=producer.epoch + 2)
    yield "state", producer.settle()
    yield "log end", s.offset(topic)


def commit(s: Scene) -> Steps:
    yield from _both(s, True)


def abort(s: Scene) -> Steps:
    yield from _both(s, False)


def nothing_to_end(s: Scene) -> Steps:
    producer = TransactionalProducer(s)
    yield "commit", _end(s, producer, True)
    yield "abort", _end(s, producer, False)
    yield "state", producer.settle()
    yield "abort again", _end(s, producer, False)


def wrong_producers(s: Scene) -> Steps:
    topic = s.topic()
    producer = TransactionalProducer(s)
    producer.start()
    producer.begin(topic)
    yield "old epoch", _end(s, producer, True, producer_epoch=producer.epoch - 1)
    yield "future epoch", _end(s, producer, True, producer_epoch=producer.epoch + 1)
    yield "other id", _end(s, producer, True, producer_id=10**15)
    yield (
        "unknown transactional id",
        s.ask({**producer.ids, "transactional_id": s.name("unknown"), "committed": True}),
    )
    yield "empty transactional id", s.ask({**producer.ids, "transactional_id": "", "committed": True})
    yield "state", producer.settle()


def negative_epochs(s: Scene) -> Steps:
    producer = TransactionalProducer(s)
    producer.begin(s.topic())
    for epoch in (-1, -2, -(1 << 15)):
        yield f"epoch {epoch}", _end(s, producer, True, producer_epoch=epoch)
    yield "state", producer.settle()
