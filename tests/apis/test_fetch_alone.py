"""What a consumer's Fetch of one partition gives on its own path, and on that of all requests."""

from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mockbroker.apis import fetch, fetch_waiting
from mockbroker.protocol.codecs import Codec
from mockbroker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from mockbroker.replication.internal_append import append_own
from mockbroker.replication.states import FollowerState
from mockbroker.rig.batches import TRANSACTIONAL, batch, control_batch

from ..driving.partition import PartitionDriver
from ..properties import examples

RACKS: Final = {1: "a", 2: "b", 3: "a"}
SELECTOR: Final = {"replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector"}

USUAL: Final[dict[str, Any]] = {
    "replica_id": -1,
    "broker": 2,
    "epoch": -1,
    "last_epoch": -1,
    "max_bytes": 10_000,
    "partition_max_bytes": 10_000,
    "rack_id": "",
    "session_id": 0,
    "session_epoch": -1,
    "max_wait_ms": 500,
    "min_bytes": 1,
    "isolation_level": 0,
}
UNUSUAL: Final[dict[str, list[Any]]] = {
    "replica_id": [-3, -2, 3],
    "broker": [1, 3],
    "epoch": [-2, 0, 1, 2],
    "last_epoch": [0, 1, 2],
    "max_bytes": [-1, 0, 1, 80, 250],
    "partition_max_bytes": [-1, 0, 1, 80, 250],
    "rack_id": ["a", "b"],
    "session_id": [7],
    "session_epoch": [0, 3],
    "max_wait_ms": [0],
    "min_bytes": [0, 100, 100_000],
    "isolation_level": [-1, 1, 2],
}
CHANGES: Final = [(name, value) for name, values in UNUSUAL.items() for value in values]


def history(
    kafka: str, policies: dict[str, str], *, behind: bool, kept: int, transaction: str, compression_type: str
) -> PartitionDriver:
    """Nine batches in two leader epochs and several segments, the first deleted, the last perhaps above the
    high watermark, and one perhaps of a transaction."""
    driver = PartitionDriver(kafka, policies, config=SELECTOR, racks=RACKS, compression_type=compression_type)
    for count in (1, 3, 1, 1, 2):
        driver.produce(count)
    for log in driver.partition.logs.values():
        log.segments.roll(log.end_offset, driver.now_ms)
    driver.partition.lead(2)
    if transaction:
        leader = driver.partition.at_leader
        made = batch(2, producer_id=5, producer_epoch=0, sequence=0, attributes=TRANSACTIONAL)
        append_own(leader, bytearray(made))
        if transaction != "open":
            kind = int(transaction == "committed")
            append_own(leader, bytearray(control_batch(kind, producer_id=5)))
    driver.delete(kept)
    if behind:
        driver.partition.set_follower(3, FollowerState.PAUSED)
    for count in (1, 4, 1):
        driver.produce(count, acks=1)
    return driver


def outcome(driver: PartitionDriver, version: int, asked: dict[str, Any]) -> tuple[object, ...]:
    """The bytes of the answer, which may have to wait for records or until its time is over, and what has
    changed."""
    frames: list[bytes] = []

    def answered(found: Codec, answer: Any) -> None:
        frame = found.encode(0, answer)
        frames.append(b"".join(frame) if isinstance(frame, list) else bytes(frame))

    partition = FetchPartition(
        0, asked["epoch"], asked["offset"], asked["last_epoch"], -1, asked["partition_max_bytes"]
    )
    fields = {name: value for name, value in asked.items() if name in FetchRequest.__slots__}
    topic = FetchTopic(driver.topic.id, [partition], driver.topic.name)
    request = FetchRequest(topics=[topic], **fields)
    found = driver.ask(request, version, broker=asked["broker"], answered=answered)
    at_once = len(frames)
    driver.produce(2, acks=1)
    driver.advance(asked["max_wait_ms"])
    brokers, notes = driver.cluster.brokers.values(), driver.cluster.notes
    return (
        found.outcome,
        at_once,
        frames,
        [broker.replicas.stats.all_topics.bytes_out for broker in brokers],
        list(notes.out_of_range),
        list(notes.waits),
        driver.ends(),
    )


@settings(max_examples=examples(600), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    release=st.sampled_from(["2.3", "3.9", "4.4"]),
    version=st.integers(4, 18),
    policies=st.sampled_from([{}, {"follower-reads": "refused"}, {"consumer-read-limit": "log-end-offset"}]),
    made=st.fixed_dictionaries(
        {
            "behind": st.booleans(),
            "kept": st.sampled_from([0, 2, 4]),
            "transaction": st.sampled_from(["", "open", "committed", "aborted"]),
            "compression_type": st.sampled_from(["producer", "producer", "zstd"]),
        }
    ),
    offset=st.sampled_from([-1, 0, 1, *range(2, 14), *range(5, 14), 17, 18]),
    changes=st.lists(st.sampled_from(CHANGES), max_size=2),
)
def test_both_paths_give_the_same(
    release: str,
    version: int,
    policies: dict[str, str],
    made: dict[str, Any],
    offset: int,
    changes: list[tuple[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = {**USUAL, "offset": offset, **dict(changes)}
    alone = outcome(history(release, policies, **made), version, asked)
    with monkeypatch.context() as patched:
        for module in (fetch, fetch_waiting):
            patched.setattr(module, "read_alone", lambda call, request: None)
        general = outcome(history(release, policies, **made), version, asked)
    assert alone == general
