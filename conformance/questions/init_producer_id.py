"""InitProducerId without a transactional id: always a new one (KIP-98, KIP-360)."""

from typing import Any

from ..registry import Scene, Steps, question


def _init(s: Scene, **fields: Any) -> Any:
    answer = s.ask({"transactional_id": None, "transaction_timeout": 60_000, **fields})
    if isinstance(answer, dict) and answer["producer_id"] >= 0:
        s.normaliser.name_producer(answer["producer_id"])
    return answer


def new_ids(s: Scene) -> Steps:
    s.producer_id()
    yield "first", _init(s)
    yield "second", _init(s)


def timeouts(s: Scene) -> Steps:
    """The timeout has no meaning without a transactional id."""
    s.producer_id()
    for timeout in (0, -1, 2**31 - 1):
        yield f"{timeout} ms", _init(s, transaction_timeout=timeout)


def empty_transactional_id(s: Scene) -> Steps:
    s.producer_id()
    yield "empty", _init(s, transactional_id="")


@question(since=3)
def with_an_id(s: Scene) -> Steps:
    fresh = s.producer_id()
    yield "its id and epoch", _init(s, producer_id=fresh, producer_epoch=0)
    yield "another epoch", _init(s, producer_id=fresh, producer_epoch=7)
    yield "unknown id", _init(s, producer_id=10**15, producer_epoch=5)
    yield "id without epoch", _init(s, producer_id=fresh, producer_epoch=-1)
    yield "epoch without id", _init(s, producer_id=-1, producer_epoch=5)
    yield "id -2", _init(s, producer_id=-2, producer_epoch=0)
