"""Values for the fields of a request: those that a client would send, and those that none would."""

import random
import uuid
from collections import deque
from collections.abc import Iterable
from typing import Any, Final

from ...rig import batches
from .requests import BITS

TOPICS: Final = ("t0", "t1", "t.2", "t_2")
WITNESS: Final = "witness"
"""The good client's topic, of which no session knows."""
GROUPS: Final = ("g0", "g1")
TRANSACTIONS: Final = ("x0", "x1")
_CONFIGS: Final = (
    "cleanup.policy",
    "retention.ms",
    "retention.bytes",
    "segment.bytes",
    "segment.ms",
    "max.message.bytes",
    "min.insync.replicas",
    "message.timestamp.type",
    "unclean.leader.election.enable",
    "compression.type",
    "log.retention.ms",
    "consumer.session.timeout.ms",
    "metrics",
    "no.such.config",
)
_SETTINGS: Final = (
    b"",
    b"-1",
    b"0",
    b"1",
    b"2",
    b"1000",
    b"compact",
    b"delete,compact",
    b"true",
    b"zstd",
    b"LogAppendTime",
)
_TEXTS: Final = (
    b"",
    b".",
    b"..",
    b"a/b",
    b"__consumer_offsets",
    b"__transaction_state",
    b"\xff\xfe",
    b"\0\x1b[31m\n",
    b"[bold]",
    "ß→\U0001f600".encode(),
    b"\xed\xa0\x80",
    b"x" * 249,
    b"x" * 250,
    b"9" * 5000,
    b"x" * 32767,
)
_REQUEST_BYTES: Final = 100_000
_REQUEST_ENTRIES: Final = 400
LEARNT: Final = frozenset(
    ("member_id", "generation_id", "producer_id", "producer_epoch", "topic_id", "session_id", "leader_epoch")
)


class Known:
    """What earlier answers said, so that later requests can refer to it."""

    def __init__(self) -> None:
        self._values: dict[str, deque[Any]] = {}

    def learn(self, name: str, value: Any) -> None:
        self._values.setdefault(name, deque(maxlen=6)).append(value)

    def any(self, name: str, random: random.Random) -> Any:
        values = self._values.get(name)
        return random.choice(values) if values else None


class Drawn:
    """Values of one session. `wild` is the probability that a field has an odd one."""

    def __init__(self, random: random.Random, known: Known, now_ms: int) -> None:
        self.random = random
        self.known = known
        self.now_ms = now_ms
        self.parks = False
        """Whether requests should rather wait than be answered at once."""
        self.begin(0.0)

    def begin(self, wild: float) -> None:
        """A request begins."""
        self.wild = wild
        self._bytes_left = _REQUEST_BYTES
        self._entries_left = _REQUEST_ENTRIES

    def number(self, entity: str, name: str, form: str) -> int | float:
        random = self.random
        if form == "d":
            return random.choice((0.0, -1.0, float("nan"), 1e308))
        if form == "B":
            return random.choice((2, 255)) if random.random() < self.wild else random.randrange(2)
        bits = BITS[form]
        if random.random() < self.wild:
            odd = (
                0,
                -1,
                -2,
                1,
                2 ** (bits - 1) - 1,
                -(2 ** (bits - 1)),
                2**bits // 3,
                random.getrandbits(bits),
            )
            value = random.choice(odd)
        else:
            value = self._usual(entity, name)
        low = -(2 ** (bits - 1)) if form.islower() else 0
        return int((value - low) % 2**bits) + low

    def _usual(self, entity: str, name: str) -> int:
        random = self.random
        if name in LEARNT or name.endswith("epoch"):
            found = self.known.any("leader_epoch" if name.endswith("leader_epoch") else name, random)
            if isinstance(found, int) and random.random() < 0.8:
                return found
        if name.startswith("partition") and not name.endswith("bytes"):
            return random.choice((0, 0, 0, 1, 2))
        match name:
            case "acks":
                return -1 if self.parks else random.choice((-1, -1, 0, 1))
            case "timeout" | "max_wait":
                return random.choice((1000, 30_000, 2**31 - 1) if self.parks else (0, 0, 100, 1000))
            case "session_timeout":
                return random.choice((6000, 10_000, 30_000))
            case "rebalance_timeout" | "transaction_timeout":
                return random.choice((1000, 6000, 60_000))
            case "min_bytes":
                return random.choice((1, 2**20)) if self.parks else random.choice((0, 1, 500))
            case "max_bytes" | "partition_max_bytes":
                return random.choice((1, 1000, 2**20, 2**20))
            case "replica_id" | "leader_id" | "broker_id" | "controller_id" | "broker_ids" | "replicas":
                return (
                    random.choice((1, 2, 3))
                    if name in ("broker_ids", "replicas")
                    else random.choice((-1, -1, -1, 2))
                )
            case "num_partitions" | "count":
                return random.choice((-1, 1, 2, 3))
            case "replication_factor":
                return random.choice((-1, 1, 3, 3))
            case "timestamp" | "max_timestamp":
                return random.choice((-1, -2, -3, -4, -5, self.now_ms, 0))
            case "resource_type":
                return random.choice((2, 2, 4, 8, 16, 32))
            case "key_type":
                return random.choice((0, 0, 1, 2))
            case "retention_time" | "commit_timestamp":
                return random.choice((-1, self.now_ms, 1000))
            case _ if name.endswith("epoch") or name in ("session_id", "generation_id"):
                return random.choice((-1, -1, 0, 0, 1))
            case _ if "offset" in name:
                return random.choice((0, 0, 1, 2, 5, -1))
            case _:
                return random.choice((0, 0, 1, 1, 2, 3))

    def text(self, entity: str, name: str) -> bytes:
        random = self.random
        if random.random() < self.wild:
            odd = random.choice((*_TEXTS, random.randbytes(random.randrange(12))))
            if len(odd) < 100 or len(odd) <= self._bytes_left:
                self._bytes_left -= len(odd)
                return odd
        learnt = self.known.any(name, random) if name in LEARNT else None
        if isinstance(learnt, str):
            return learnt.encode()
        match name:
            case "group_id" | "groups" | "groups_names" | "group":
                return random.choice(GROUPS).encode()
            case "transactional_id" | "transactional_ids":
                return random.choice(TRANSACTIONS).encode()
            case "key" | "coordinator_keys":
                return random.choice(GROUPS + TRANSACTIONS).encode()
            case "member_id":
                return b""
            case "group_instance_id":
                return random.choice((b"i0", b"i1"))
            case "protocol_type":
                return b"consumer"
            case "protocol_name":
                return b"range"
            case "resource_name":
                return random.choice((*TOPICS, "1", "2", "", *GROUPS)).encode()
            case "name" if "Protocol" in entity:
                return random.choice((b"range", b"range", b"roundrobin"))
            case "name" | "config_name" | "configuration_keys" if "Config" in entity:
                return random.choice(_CONFIGS).encode()
            case "value":
                return random.choice(_SETTINGS)
            case _ if name.startswith(("name", "topic")):
                return random.choice(TOPICS).encode()
            case "assignor" | "reason" | "rack_id" | "host" | "cluster_id":
                return random.choice((b"", b"r1"))
            case _:
                return random.choice((*TOPICS, *GROUPS)).encode()

    def data(self, entity: str, name: str) -> bytes:
        random = self.random
        if random.random() < self.wild:
            return random.randbytes(random.choice((0, 1, 7, 300)))
        return b"\0\1\0\0\0\1\0\2t0\0\0\0\0"

    def records(self) -> bytes:
        """Batches, most of which a broker accepts."""
        random, known = self.random, self.known
        wild = random.random() < self.wild
        given: dict[str, Any] = {}
        if random.random() < 0.5:
            producer = known.any("producer_id", random)
            epoch = known.any("producer_epoch", random)
            given = {
                "producer_id": -1 if producer is None else producer,
                "producer_epoch": -1 if epoch is None else epoch,
                "sequence": random.choice((-1, 0, 0, 1, 2, 3, 2**31 - 1)),
                "attributes": random.choice((0, 0, batches.TRANSACTIONAL)),
            }
        if wild:
            odd = {
                "bad_crc": True,
                "count": random.choice((-1, 0, 2**31 - 1)),
                "last_offset_delta": random.choice((-1, 7, 2**31 - 1)),
                "length_error": random.choice((-60, -1, 1, 2**30)),
                "magic": random.choice((0, 1, 3, -1)),
                "base_timestamp": random.choice((-1, -(2**63), 2**63 - 1)),
                "max_timestamp": random.choice((-1, 2**63 - 1)),
                "attributes": random.getrandbits(15),
                "extra": random.randbytes(3),
                "base_offset": random.choice((-1, 2**63 - 1)),
            }
            for name in random.sample(list(odd), random.choice((1, 1, 2))):
                given[name] = odd[name]
        count = random.choice((1, 1, 2, 5, 0 if wild else 1, 200 if wild else 3))
        items = batches.records(count, self.now_ms, size=random.choice((1, 10, 1000)))
        data = batches.batch(items, codec=random.choice((0, 0, 0, 1, 2, 3, 4)), **given)
        if wild and random.random() < 0.5:
            data = damaged(data, random)
        return data if not wild or random.random() < 0.8 else data * 2

    def uuid(self, name: str) -> uuid.UUID:
        found = self.known.any("topic_id", self.random)
        if isinstance(found, uuid.UUID) and self.random.random() >= self.wild:
            return found
        return uuid.UUID(int=self.random.choice((0, 1, self.random.getrandbits(128))))

    def null(self, name: str) -> bool:
        usual = 0.7 if name in ("transactional_id", "group_instance_id", "cluster_id") else 0.15
        return self.random.random() < max(usual, self.wild)

    def size(self, entity: str, name: str) -> int:
        random = self.random
        size = random.choice((1, 1, 1, 2))
        if random.random() < self.wild / 4:
            size = random.choice((0, 0, 3, 20, 300))
        size = min(size, self._entries_left)
        self._entries_left -= size
        return size

    def tagged(self) -> bool:
        return self.random.random() < max(0.1, self.wild)


def damaged(data: bytes, random: random.Random, times: Iterable[int] | None = None) -> bytes:
    """`data` with bytes changed, removed, repeated or inserted."""
    out = bytearray(data)
    for _ in times if times is not None else range(random.choice((1, 1, 2, 4))):
        at = random.randrange(len(out) + 1)
        match random.randrange(5):
            case 0 if at < len(out):
                out[at] = random.getrandbits(8)
            case 1 if at < len(out):
                out[at] ^= 1 << random.randrange(8)
            case 2:
                del out[at : at + random.choice((1, 1, 4, 20))]
            case 3:
                out[at:at] = random.randbytes(random.choice((1, 2, 4)))
            case _:
                out[at:at] = out[at : at + random.choice((1, 8, 40))]
    return bytes(out)
