"""What a producer's requests for one partition give where they are answered at once, and where each of their
values is looked at."""

import struct
from collections.abc import Callable
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mockbroker.apis import produce
from mockbroker.protocol import record_scan
from mockbroker.replication.states import FollowerState
from mockbroker.rig.batches import CONTROL, GZIP, LOG_APPEND_TIME, TRANSACTIONAL, ZSTD, Record, batch
from mockbroker.rig.client import encode, flexible, key_of
from mockbroker.server.connection import Connection

from ..driving.connections import Heard, written
from ..driving.partition import PartitionDriver
from ..properties import examples


class General(Connection):
    """Answers nothing at once."""

    __slots__ = ()

    answers_at_once = False


USUAL: Final[dict[str, Any]] = {
    "acks": -1,
    "timeout": 1_000,
    "topic": "t",
    "partition": 0,
    "again": False,
    "count": 1,
    "size": 100,
    "key": None,
    "headers": (),
    "age_ms": 0,
    "producer": -1,
    "epoch": 0,
    "step": 1,
    "cut": 0,
    "records": "batch",
    "transactional_id": None,
    "client_id": "app",
}
UNUSUAL: Final[dict[str, list[Any]]] = {
    "acks": [0, 1, 2],
    "timeout": [0],
    "topic": ["absent", "__consumer_offsets", "other"],
    "partition": [-1, 1],
    "again": [True],
    "count": [0, 2, 40],
    "size": [0, 1, 50, 63, 64, 8_000, 9_000, 70_000],
    "key": [b"", b"k"],
    "headers": [(("h", b"v"),)],
    "age_ms": [1, -1, 86_400_000, -86_400_000, 1 << 62],
    "producer": [7, 8],
    "epoch": [1, -1],
    "step": [-1, 0, 2],
    "cut": [1, 5, 90],
    "records": ["none", "empty", "twice", *(f"{name}" for name in ("crc", "delta", "base", "magic", "time"))],
    "transactional_id": ["id"],
    "client_id": ["", "other", None],
}
ATTRIBUTES: Final = [TRANSACTIONAL, CONTROL, LOG_APPEND_TIME, 1 << 8]
CHANGES: Final = [
    *((name, value) for name, values in UNUSUAL.items() for value in values),
    *(("attributes", each) for each in (*ATTRIBUTES, GZIP, ZSTD)),
]
HAPPENINGS: Final = [
    ("paused", FollowerState.PAUSED),
    ("paused", FollowerState.BEHIND),
    ("leader", 2),
    ("leader", 1),
    ("stopped", 3),
    ("later", 2_000),
    ("new topic", None),
]


class Player:
    """A client of broker 1, and what it noticed."""

    def __init__(self, kind: type[Connection], driver: PartitionDriver, version: int) -> None:
        self.driver, self._version = driver, version
        self.heard = Heard()
        broker = driver.cluster.brokers[1]
        self._new: Callable[[], Connection] = lambda: kind(
            driver.cluster, broker, "client", "/127.0.0.1", self.heard, lambda _: None
        )
        self._connection = self._new()
        self._sequences: dict[int, int] = {}
        self.seen: list[object] = []

    def request(self, *changes: tuple[str, Any]) -> None:
        asked = {**USUAL, "attributes": 0, **dict(changes)}
        self._connection.receive(memoryview(self._frame(asked)).toreadonly())
        connection = self._connection
        self.seen += [written(connection), connection.wants_close, connection.parked is not None]
        if connection.wants_close:
            self._connection = self._new()

    def _frame(self, asked: dict[str, Any]) -> bytes:
        version = self._version
        partition = {"index": asked["partition"], "records": self._records(asked)}
        known = self.driver.cluster.topics.get(asked["topic"])
        topic = {"name": asked["topic"], "topic_id": known and known.id, "partition_data": [partition]}
        if asked["again"]:
            topic["partition_data"] = [partition, partition]
        fields = {
            "transactional_id": asked["transactional_id"],
            "acks": asked["acks"],
            "timeout": asked["timeout"],
            "topic_data": [topic],
        }
        name = None if asked["client_id"] is None else asked["client_id"].encode()
        head = struct.pack(">hhih", key_of("produce"), version, 7, -1 if name is None else len(name))
        body = encode("produce", version, fields)
        whole = head + (name or b"") + b"\0" * flexible("produce", version) + body
        whole = whole[: len(whole) - asked["cut"]]
        return struct.pack(">i", len(whole)) + whole

    def _records(self, asked: dict[str, Any]) -> bytes | None:
        what, producer = asked["records"], asked["producer"]
        if what in ("none", "empty"):
            return None if what == "none" else b""
        time_ms = self.driver.now_ms - asked["age_ms"]
        one = Record(b"v" * asked["size"], key=asked["key"], headers=asked["headers"], timestamp=time_ms)
        of: dict[str, Any] = {}
        if producer >= 0:
            sequence = self._sequences.get(producer, -1) + asked["step"]
            self._sequences[producer] = sequence
            of = {"producer_id": producer, "producer_epoch": asked["epoch"], "sequence": sequence}
        wrong: dict[str, dict[str, Any]] = {
            "crc": {"bad_crc": True},
            "delta": {"last_offset_delta": 5},
            "base": {"base_offset": 3},
            "magic": {"magic": 1},
            "time": {"max_timestamp": time_ms + 5},
        }
        attributes = asked["attributes"]
        codec = attributes if attributes in (GZIP, ZSTD) else 0
        made = batch(
            [one] * asked["count"], codec=codec, attributes=attributes - codec, **of, **wrong.get(what, {})
        )
        return made * 2 if what == "twice" else made

    def happens(self, what: str, value: Any) -> None:
        driver = self.driver
        match what:
            case "paused":
                for follower in {2, 3} - {driver.partition.leader}:
                    driver.partition.set_follower(follower, value)
            case "leader":
                driver.partition.lead(value)
            case "stopped":
                driver.stop_broker(value)
            case "later":
                driver.advance(value)
            case "new topic":
                driver.cluster.delete_topics([driver.cluster.topics["t"]])
                driver.advance(1)
                driver.partition = driver.cluster.create_topic("t", [[1, 2, 3]]).partitions[0]

    def outcome(self) -> list[object]:
        logs = [
            [[bytes(each) for each in log.batches], log.high_watermark, log.size, log.segments.active.size]
            for topic in self.driver.cluster.topics.values()
            for partition in topic.partitions
            for log in partition.logs.values()
        ]
        stats = [
            (each.replicas.stats.all_topics.bytes_in, each.replicas.stats.all_topics.messages_in)
            for each in self.driver.cluster.brokers.values()
        ]
        heard = [self.heard.identifications, self.heard.refusals, list(map(str, self.heard.errors))]
        return [*self.seen, logs, stats, heard]


def played(
    kind: type[Connection], release: str, version: int, configs: dict[str, Any], steps: list[Any]
) -> list[object]:
    if "message_timestamp_difference_max_ms" in configs and release == "4.4":
        configs = {f"message_timestamp_{which}_max_ms": "1000" for which in ("before", "after")}
    player = Player(kind, PartitionDriver(release, **configs), version)
    player.request()
    for what, value in steps:
        if what == "request":
            # Only what is like the request before is answered at once.
            player.request(*value)
            player.request(*value)
        else:
            player.happens(what, value)
        player.request()
        player.request(("producer", 7))
    player.driver.advance(5_000)
    return player.outcome()


@settings(max_examples=examples(400), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    release=st.sampled_from(["2.3", "3.9", "4.4"]),
    version=st.integers(3, 13),
    configs=st.sampled_from(
        [
            {},
            {},
            {"cleanup_policy": "compact"},
            {"message_timestamp_type": "LogAppendTime"},
            {"compression_type": "zstd"},
            {"compression_type": "uncompressed"},
            {"min_insync_replicas": "3"},
            {"message_timestamp_difference_max_ms": "1000"},
            {"max_message_bytes": "150"},
            {"segment_bytes": "1048576"},
        ]
    ),
    steps=st.lists(
        st.one_of(
            st.tuples(st.just("request"), st.lists(st.sampled_from(CHANGES), min_size=1, max_size=2)),
            st.sampled_from(HAPPENINGS),
        ),
        min_size=3,
        max_size=12,
    ),
)
def test_both_paths_give_the_same(
    release: str, version: int, configs: dict[str, Any], steps: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once = played(Connection, release, version, configs, steps)
    with monkeypatch.context() as patched:
        patched.setattr(record_scan, "is_usual", lambda data, offset: False)
        patched.setattr(produce, "append_alone", lambda call, request: None)
        general = played(General, release, version, configs, steps)
    assert at_once == general


def test_usual_requests_are_answered_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the test above compares two paths."""
    decoded = []
    player = Player(Connection, PartitionDriver(), 12)
    player.request()
    found = next(iter(player._connection._served.values()))[0]
    monkeypatch.setattr(type(found), "decode", lambda *_: decoded.append(1))
    for _ in range(3):
        player.request()
    assert not decoded
    assert player.driver.partition.at_leader.log.end_offset == 4
