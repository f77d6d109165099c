"""DescribeTransactions: the state of a transactional id (KIP-664)."""

from typing import Any

from ...rig.transaction_scene import TransactionalProducer
from ..registry import Scene, Steps


def states(s: Scene) -> Steps:
    topic = s.topic(partitions=2)
    producer = TransactionalProducer(s)

    def described() -> Any:
        answer = s.ask(transactional_ids=[producer.name])
        for each in answer["transaction_states"][0]["topics"]:
            each["partitions"].sort()
        return answer

    producer.add(topic, 0, 1)
    producer.write(topic)
    yield "ongoing", described()
    producer.end(committed=True)
    yield "committed", described()
    producer.add(topic)
    producer.end(committed=False)
    yield "aborted", described()
    producer.start()
    yield (
        "started again, start time",
        "-1" if _start_ms(s, producer.name) == -1 else "of the last transaction",
    )


def _start_ms(s: Scene, name: str) -> int:
    """By its place, since kio reads no time of -1."""
    body = b"\x02" + bytes([len(name) + 1]) + name.encode() + b"\0"
    answer = s.raw(65, 0, body, flexible=True)
    assert isinstance(answer, bytes)
    at = answer.index(b"Empty") + len("Empty") + 4
    return int.from_bytes(answer[at : at + 8], signed=True)


def unknown_ids(s: Scene) -> Steps:
    yield "unknown", s.ask(transactional_ids=[s.name("unknown")])
    yield "empty", s.ask(transactional_ids=[""])
    yield "none", s.ask(transactional_ids=[])


def ids_named_twice(s: Scene) -> Steps:
    producer = TransactionalProducer(s)
    producer.add(s.topic())
    none = s.name("none")
    yield "known", s.ask(transactional_ids=[producer.name, producer.name])
    yield "unknown", s.ask(transactional_ids=[none, none])
    yield "both", s.ask(transactional_ids=[none, producer.name, none, producer.name])
