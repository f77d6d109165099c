"""The trace without bodies: the same events, told at a fraction of the price, and bounded."""

from __future__ import annotations

import dataclasses
import gc
import random
import tracemalloc
import typing
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockbroker import MockCluster, unchecked
from mockbroker.errors import OptionError
from mockbroker.faults.places import response_class
from mockbroker.protocol.api_keys import CODEC_VERSIONS, ApiKey
from mockbroker.protocol.errors import error_name
from mockbroker.rig.client import encode
from mockbroker.trace import Answer, Request
from mockbroker.trace.codes import error_codes
from mockbroker.trace.events import BodyNotKeptError
from mockbroker.trace.kept import Kept
from mockbroker.trace.plain import errors, plain, weight
from tests.driving import wire
from tests.driving.faulty import TracedDriver, named_request


class CheapDriver(TracedDriver):
    def receive(self, frame: bytes) -> None:
        super().receive(bytes(frame))
        self.sent()

    def told(self) -> list[dict[str, Any]]:
        """Requests and answers, without what counts all events and without bodies."""
        rows = [event.row() for event in self.trace.events if isinstance(event, Request | Answer)]
        return [{k: v for k, v in row.items() if k not in ("number", "body")} for row in rows]


def requests() -> Iterator[bytes]:
    """Some of each kind: one partition and many, names and ids, with errors and without."""
    for correlation_id, (topic, batch) in enumerate([("t", wire.batch([b"v"])), ("nothing", b"")]):
        yield wire.produce(topic, batch, correlation_id=correlation_id)
        yield wire.fetch(topic, 0, correlation_id=correlation_id)
    for api, version, body in (
        ("metadata", 8, {"topics": None}),
        ("metadata", 8, {"topics": [{"name": "made"}], "allow_auto_topic_creation": True}),
        (
            "offset_commit",
            7,
            {"group_id": "g", "topics": [{"name": "t", "partitions": [{"partition_index": 0}]}]},
        ),
        (
            "list_offsets",
            5,
            {"topics": [{"name": "t", "partitions": [{"partition_index": i} for i in range(99)]}]},
        ),
        ("heartbeat", 3, {"group_id": "g"}),
        ("delete_topics", 3, {"topic_names": ["t"], "timeout": 1000}),
        ("list_offsets", 5, {"topics": [{"name": "t", "partitions": [{"partition_index": 0}]}]}),
    ):
        yield named_request(api, version, body, 9)


def test_it_tells_what_the_whole_trace_tells_but_for_bodies() -> None:
    told = []
    for bodies in (True, False):
        driver = CheapDriver(bodies=bodies)
        driver.faults.add("error", error="NOT_COORDINATOR", api="Heartbeat")
        for frame in requests():
            driver.receive(frame)
        told.append(driver.told())
    assert told[0] == told[1]
    assert [row["names"] for row in told[1] if row["kind"] == "request"][:2] == [("t-0",), ("t-0",)]


def test_a_topic_that_is_gone_is_still_named() -> None:
    """Requests have ids only, and are read later."""
    driver = CheapDriver(bodies=False)
    topic = driver.cluster.topics["t"]
    partitions = [{"partition": 0, "partition_max_bytes": 100}]
    body = {
        "max_bytes": 100,
        "topics": [{"topic_id": topic.id, "partitions": partitions}],
        "session_epoch": -1,
    }
    for version in (13, 16):
        driver.receive(wire.request(ApiKey.FETCH, version, b"\0" + encode("fetch", version, body), 3))
    driver.receive(named_request("delete_topics", 3, {"topic_names": ["t"], "timeout": 1000}, 4))
    assert "t" not in driver.cluster.topics
    assert [row["names"] for row in driver.told() if row["api"] == "Fetch"] == [("t-0",)] * 4


def test_a_body_that_is_not_kept_says_how_to_get_it() -> None:
    driver = CheapDriver(bodies=False)
    driver.receive(wire.api_versions())
    events = [event for event in driver.trace.events if isinstance(event, Request | Answer)]
    assert len(events) == 2
    for event in events:
        for look in ("__getitem__", "get"):
            with pytest.raises(BodyNotKeptError, match="trace=True"):
                getattr(event.body, look)("topics")


def test_records_are_not_kept_alive() -> None:
    driver = CheapDriver(bodies=False, kept=1000)
    frame = wire.produce("nothing", b"x" * 1_000_000)
    driver.receive(frame)
    tracemalloc.start()
    try:
        for _ in range(30):
            driver.receive(frame)
        gc.collect()
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 2_000_000


def test_large_bodies_count_whatever_they_name() -> None:
    driver = CheapDriver(bodies=True, kept=1000)
    entity = {"entity_type": "user", "entity_name": "ada"}
    entry = {"entity": [entity], "ops": [{"key": "producer_byte_rate", "value": 1.0, "remove": False}]}
    body = encode("alter_client_quotas", 0, {"entries": [entry] * 340, "validate_only": True})
    frame = wire.request(ApiKey.ALTER_CLIENT_QUOTAS, 0, body)
    for _ in range(260):
        driver.receive(frame)
    kept = [event.body for event in driver.trace.events if isinstance(event, Request | Answer)]
    assert 100 < len(kept) < 500
    # Small ones don't count.
    assert sum(each for each in map(weight, kept) if each > 50) <= 200_000


@given(st.lists(st.tuples(st.integers(0, 90_000), st.booleans()), max_size=40))
def test_no_more_is_kept_than_there_is_room_for(sizes: list[tuple[int, bool]]) -> None:
    driver = CheapDriver(bodies=False)
    driver.receive(wire.api_versions())
    one = driver.trace.events[0]
    kept = Kept(10)
    names: dict[int, int] = {}
    for number, (size, large) in enumerate(sizes, 1):
        kept.append((number, lambda number, *_: dataclasses.replace(one, number=number), None, None, None))
        names[number] = size if large else 0
        if large:
            kept.weigh(number, size)
    numbers = [event.number for event in kept]
    assert numbers == sorted(numbers)
    assert len(numbers) <= 10
    assert sum(names[number] for number in numbers) <= 200_000
    if numbers:
        assert numbers[-1] == len(sizes)
        assert kept[-1].number == len(sizes) == next(iter(reversed(kept))).number


def test_events_that_were_read_are_forgotten_with_the_others() -> None:
    kept = Kept(10)
    made = weakref.WeakSet[Any]()

    class Made:
        pass

    def make(*_: Any) -> Any:
        event = Made()
        made.add(event)
        return event

    for number in range(1_000):
        kept.append((number, make, None, None, None))
        assert kept[-1] is kept[-1]
    gc.collect()
    assert 10 <= len(made) <= 30


@pytest.mark.parametrize("bodies", [True, False])
def test_of_a_large_request_the_beginning_is_kept(bodies: bool) -> None:
    driver = CheapDriver(bodies=bodies, kept=20_000)
    names = [f"topic-{number}" for number in range(5_000)]
    body = {"topics": [{"name": name} for name in names], "allow_auto_topic_creation": False}
    driver.receive(wire.request(ApiKey.METADATA, 4, encode("metadata", 4, body)))
    asked, answered = driver.trace.find(api="Metadata")
    assert isinstance(asked, Request)
    assert isinstance(answered, Answer)
    assert len(asked.names) == len(answered.names) == 1_000
    if bodies:
        assert [each["name"] for each in asked.body["topics"]] == names[:1_000]
        assert asked.body["left_out"] == 4_000
        assert len(answered.body["topics"]) + len(answered.body["brokers"]) == 1_000
        assert answered.errors == ("UNKNOWN_TOPIC_OR_PARTITION",)


def filled(model: Any, chance: random.Random, depth: int = 0) -> Any:
    """An answer with errors here and there."""
    values: dict[str, Any] = {}
    hints = typing.get_type_hints(model)
    for each in dataclasses.fields(model):
        options = [hints[each.name], *typing.get_args(hints[each.name])]
        inner = next(
            (i for o in options for i in (o, *typing.get_args(o)) if dataclasses.is_dataclass(i)), None
        )
        if each.name.endswith("error_code"):
            values[each.name] = chance.choice([0, 0, 3, 6, 16, 999])
        elif inner is not None and depth < 4:
            if inner is hints[each.name]:
                values[each.name] = filled(inner, chance, depth + 1)
            else:
                values[each.name] = [filled(inner, chance, depth + 1) for _ in range(chance.randrange(3))]
    return model(**values)


@pytest.mark.parametrize("api", list(CODEC_VERSIONS), ids=lambda api: api.name)
def test_error_codes_are_found_wherever_they_stand(api: ApiKey) -> None:
    model = response_class(api)
    for seed in range(20):
        answer = filled(model, random.Random(seed))
        found = {error_name(code) for code in error_codes(answer)}
        assert found == set(errors(plain(answer)))


def test_what_has_changed_is_there_when_it_is_asked_for() -> None:
    with MockCluster(brokers=2, topics={"t": 1}, trace="requests") as cluster:
        cluster.move_leader("t", 0)
        leaders = cluster.trace.events("leader", topic="t")
    assert [event.row()["leader"] for event in leaders] == [1, 2]


def test_an_unknown_kind_of_trace_is_refused() -> None:
    with pytest.raises(OptionError, match="give True, False or 'requests'"):
        MockCluster(trace=unchecked("everything")).start()
