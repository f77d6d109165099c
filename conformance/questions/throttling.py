"""What quotas do to Produce and Fetch (KIP-13, KIP-219).

The first request over a rate tells exactly how long its client has to wait: of the eleven windows over which
the rate is taken, ten are deemed to be over then.
"""

from typing import Any

from ...rig.batches import Record, batch
from ...rig.client import Client
from ..registry import Scene, Steps, about
from .alter_client_quotas import CONSUMER, PRODUCER, Entity, quotas

question = about("alter_client_quotas")

ANONYMOUS = "ANONYMOUS"


def _one(size: int) -> bytes:
    """A batch with one record."""
    return batch([Record(b"v" * size)])


def _produced(s: Scene, topic: str, size: int, client: Client, acks: int = -1) -> dict[str, Any]:
    part = {"index": 0, "records": _one(size)}
    data = [{**s.topic_ref(topic), "partition_data": [part]}]
    return {"acks": acks, "timeout": 10000, "topic_data": data}


def _throttle(s: Scene, topic: str, size: int, client: Client) -> Any:
    return s.call("produce", _produced(s, topic, size, client), client=client)["throttle_time"]


def _waits(s: Scene, client: Client, at_least_ms: int) -> bool:
    """Whether the next request on a connection is answered no sooner."""
    before = s.now_s()
    s.call("api_versions", version=0, client=client)
    return 1000 * (s.now_s() - before) >= at_least_ms


@question(newest_only=True)
def a_producer_over_its_rate(s: Scene) -> Steps:
    topic, name = s.topic(), s.name("c")
    client = s.new_client(name)
    with quotas(s, [({"client-id": name}, {PRODUCER: 100.0})]):
        yield "below", _throttle(s, topic, 10, client)
        client = s.new_client(s.name("other"))
        yield "another client", _throttle(s, topic, 1000, client)
    name = s.name("d")
    client = s.new_client(name)
    with quotas(s, [({"client-id": name}, {PRODUCER: 100.0})]):
        yield "above", _throttle(s, topic, 1000, client)
        yield "the next request waits", _waits(s, client, 800)
        yield "all records are there", s.offset(topic)


@question(newest_only=True)
def a_producer_without_answers(s: Scene) -> Steps:
    topic, name = s.topic(), s.name("c")
    client = s.new_client(name)
    with quotas(s, [({"client-id": name}, {PRODUCER: 100.0})]):
        version = s.target.newest("produce")
        client.send("produce", version, _produced(s, topic, 1000, client, acks=0))
        yield "the next request waits", _waits(s, client, 800)
        yield "the record is there", s.offset(topic)


@question(newest_only=True)
def whose_rate_counts(s: Scene) -> Steps:
    """Quotas of all kinds, from the one that takes precedence to the one that is used last."""
    topic = s.topic()

    def levels(name: str) -> list[tuple[Entity, dict[str, float]]]:
        user: list[Entity] = [
            {"user": ANONYMOUS, "client-id": name},
            {"user": ANONYMOUS, "client-id": None},
            {"user": ANONYMOUS},
            {"user": None, "client-id": name},
            {"user": None, "client-id": None},
            {"user": None},
            {"client-id": name},
            {"client-id": None},
        ]
        return [(each, {PRODUCER: 100.0 - 3 * number}) for number, each in enumerate(user)]

    for number in range(8):
        name = s.name(f"c{number}")
        with quotas(s, levels(name)[number:]):
            throttled = _throttle(s, topic, 1000, s.new_client(name))
            # What counts for a user may have been counted before.
            yield f"from kind {number}", throttled if number not in (2, 5) else throttled > 0


@question(newest_only=True)
def odd_client_ids(s: Scene) -> Steps:
    topic = s.topic()
    for name in (None, ""):
        with quotas(s, [({"client-id": None}, {PRODUCER: 100.0})]):
            yield f"client id {name!r}", _throttle(s, topic, 1000, s.new_client(name))
    with quotas(s, [({"user": "nobody"}, {PRODUCER: 1.0}), ({"client-id": "nobody"}, {PRODUCER: 1.0})]):
        yield "others have quotas", _throttle(s, topic, 1000, s.new_client(s.name("c")))


@question(newest_only=True)
def a_consumer_over_its_rate(s: Scene) -> Steps:
    topic, name = s.topic(), s.name("c")
    for _ in range(3):
        s.produce(topic, _one(500))
    client = s.new_client(name)

    def fetch(session_id: int = 0, session_epoch: int = -1) -> Any:
        part = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1_000_000}
        asked: dict[str, Any] = {"topics": [{**s.topic_ref(topic, "topic"), "partitions": [part]}]}
        asked |= {"replica_id": -1, "max_wait": 0, "min_bytes": 0, "max_bytes": 1_000_000}
        session = {"session_id": session_id, "session_epoch": session_epoch}
        return s.call("fetch", {**asked, **session}, client=client)

    with quotas(s, [({"client-id": name}, {CONSUMER: 150.0})]):
        yield "no more than fits", fetch()
    name = s.name("d")
    client = s.new_client(name)
    with quotas(s, [({"client-id": name}, {CONSUMER: 55.0})]):
        yield "above", fetch()
        yield "the next request waits", _waits(s, client, 800)
    name = s.name("e")
    client = s.new_client(name)
    with quotas(s, [({"client-id": name}, {CONSUMER: 55.0})]):
        yield "no session begins", fetch(0, 0)
