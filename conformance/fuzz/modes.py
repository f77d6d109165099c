"""The modes: each makes requests of its own kind, in sessions of the same shape."""

import functools
import random
import struct
from collections.abc import Callable, Iterator
from typing import Any, Final

from ...apis.advertised import advertised, answered
from ...protocol.releases import names, parse
from ...rig.client import api_keys, kio_versions
from . import largest as largest_requests
from . import recorded
from .requests import Written, schema, uvarint, write
from .steps import Close, Do, Send, Step
from .values import GROUPS, TOPICS, TRANSACTIONS, Drawn, Known, damaged

INPUTS: Final = 100
"""The number of requests, or of what takes their place, in a session."""
BROKERS: Final = 3
_PARKING: Final = (
    "produce",
    "produce",
    "produce",
    "fetch",
    "fetch",
    "join_group",
    "join_group",
    "sync_group",
    "init_producer_id",
    "add_partitions_to_txn",
    "add_offsets_to_txn",
    "txn_offset_commit",
    "end_txn",
    "delete_records",
    "offset_commit",
    "offset_fetch",
    "write_txn_markers",
    "heartbeat",
    "leave_group",
    "delete_topics",
    "delete_groups",
    "elect_leaders",
    "alter_partition_reassignments",
    "create_topics",
    "metadata",
)


class Maker:
    """Makes the frames of one session. `now_ms` is the cluster's time at its start."""

    most_entries = largest_requests.MOST_ENTRIES
    """In one of the largest requests."""

    def __init__(self, mode: str, seed: int, known: Known, now_ms: int) -> None:
        # Text seeds the same stream in every process.
        self.random = random.Random(f"{mode} {seed}")
        self.values = Drawn(self.random, known, now_ms)
        self.kafka = "4.4" if self.random.random() < 0.6 else self.random.choice(names())
        self.traced = self.random.random() < 0.2
        self._client_id = self.random.choice((b"fuzz", b"fuzz", None, b""))
        self._frames = MODES[mode](self)
        self._mode = mode
        self._correlation = 0

    def steps(self) -> Iterator[Step]:
        """The steps, to be played one by one: later requests depend on earlier answers."""
        random, parks = self.random, self._mode == "parked"
        slots = list(range(4))
        homes = [random.randrange(BROKERS) + 1 for _ in slots]
        number, made = len(slots), 0
        while made < INPUTS:
            count = 1 if random.random() < 0.8 else random.randrange(2, 6)
            made += count
            data = b"".join(next(self._frames) for _ in range(count))
            at = random.randrange(len(slots))
            yield Send(slots[at], homes[at], data, self._cuts(len(data)))
            if random.random() < (0.1 if not parks else 0.02):
                yield Close(slots[at])
            if random.random() < 0.15:
                # A closed connection is of no more use; one that waits may go on waiting.
                slots[at], homes[at], number = number, random.randrange(BROKERS) + 1, number + 1
            if random.random() < (0.5 if parks else 0.1):
                yield self._operation()

    def _cuts(self, size: int) -> tuple[int, ...]:
        if size < 2 or self.random.random() < 0.7:
            return ()
        count = self.random.choice((1, 1, 2, 5))
        return tuple(sorted({self.random.randrange(1, size) for _ in range(count)}))

    def _operation(self) -> Do:
        random = self.random
        broker = {"broker": random.randrange(BROKERS) + 1}
        partition = {
            "topic": random.choice((*TOPICS, "__consumer_offsets")),
            "partition": random.randrange(3),
        }
        to = {"to": random.choice((None, 1, 2, 3))}
        match random.randrange(19):
            case 0 | 1 | 2:
                return Do("clock advance", {"by": random.choice(("10ms", "500ms", "5s", "31s", "1h", "8d"))})
            case 3:
                return Do("brokers stop", broker)
            case 4:
                return Do("brokers kill", broker)
            case 5 | 6:
                return Do("brokers start", broker)
            case 7:
                return Do("brokers cut-off", broker)
            case 8:
                return Do("brokers rejoin", broker)
            case 9 | 10:
                return Do("partitions move-leader", partition | to)
            case 11 | 12:
                return Do("followers pause", partition | broker)
            case 13:
                return Do("followers resume", partition | broker)
            case 14:
                return Do(
                    "followers slow", {**partition, **broker, "delay_ms": random.choice((0, 100, 5000))}
                )
            case 15:
                return Do("groups move-coordinator", {"group": random.choice(GROUPS)} | to)
            case 16:
                transactional_id = random.choice(TRANSACTIONS)
                return Do("transactions move-coordinator", {"transactional_id": transactional_id} | to)
            case 17:
                return Do("faults add", self._fault())
            case _:
                return Do("faults clear")

    def _fault(self) -> dict[str, Any]:
        """A fault for the connections of this session only: its client id is not the good client's."""
        fault = self.random.choice(
            (
                {"do": "delay", "ms": 50, "jitter_ms": 100},
                {"do": "disconnect", "when": "after", "nth": 2},
                {"do": "error", "error": "NOT_COORDINATOR"},
                {"do": "error", "error": 9999, "when": "after"},
                {"do": "half-answer", "nth": 3},
                {"do": "hold", "times": 2},
                {"do": "move-leader"},
                {"do": "pause-follower", "nth": 2},
                {"do": "reorder", "ms": 100},
                {"do": "silence", "nth": 4},
                {"do": "slow-bytes", "bytes": 3, "ms": 10},
                {"do": "stale-metadata"},
                {"do": "stop-broker", "target": 2, "nth": 1},
                {"do": "throttle", "ms": 500},
                {"do": "corrupt-crc"},
            )
        )
        return {**fault, "client_id": "fuzz"}

    @functools.cached_property
    def apis(self) -> list[tuple[str, int, int]]:
        """Name, key and version of every API that the release answers."""
        release = parse(self.kafka)
        return [
            (api_keys()[key], key, version)
            for key, (low, high) in advertised(release).items()
            for version in range(low, high + 1)
            if answered(release, key, version) and version in kio_versions(api_keys()[key])
        ]

    def header(self, key: int, version: int, flexible: bool, *, odd: float = 0.1) -> bytes:
        random = self.random
        self._correlation += 1
        client_id = self._client_id
        if random.random() < odd:
            client_id = random.choice((None, b"", b"fuzz", b"x" * 300, b"\xff\xfe\x80", b"\x1b[2J\r\n[red]"))
        size = -1 if client_id is None else len(client_id)
        head = struct.pack(">hhih", key, version, self._correlation, size) + (client_id or b"")
        return head + (b"\0" if flexible else b"")

    def valid(self, api: str | None = None, wild: float = 0.0) -> tuple[bytes, Written]:
        """Header and body of a readable request."""
        found = [each for each in self.apis if each[0] == api] if api else None
        if not found:
            found = self.apis
        name, key, version = self.random.choice(found)
        entity = schema(name, version, "request")
        self.values.begin(wild)
        return self.header(key, version, entity.__header_schema__.__version__ == 2), write(
            entity, self.values
        )


def framed(*parts: bytes | bytearray) -> bytes:
    data = b"".join(parts)
    return struct.pack(">i", len(data)) + data


def raw(make: Maker) -> Iterator[bytes]:
    """Any bytes; half of them after a correct size."""
    random = make.random
    while True:
        data = random.randbytes(random.choice((0, 1, 3, 8, 20, 100, 3000)))
        yield framed(data) if random.random() < 0.5 else data


def headers(make: Maker) -> Iterator[bytes]:
    """Headers in every form, before bodies that may be another API's."""
    random = make.random
    tags = (
        b"",
        b"\0",
        b"\1\5\0",
        b"\2\1\1a\1\1b",
        b"\2\7\0\3\0",
        b"\xff\xff\xff\xff\x0f",
        b"\1\0\xff\xff\xff\xff\x0f",
    )
    while True:
        _, key, version = random.choice(make.apis)
        key = random.choice((key, key, key, random.randrange(-2, 100), 2**15 - 1))
        version = random.choice((version, version, version, random.randrange(-2, 20), 2**15 - 1))
        size = random.choice((-1, -1, 0, 4, -2, 2, 300, 2**15 - 1, -(2**15)))
        make._correlation += 1
        head = struct.pack(">hhih", key, version, make._correlation, size)
        head += random.choice((b"fuzz", b"", b"\xff\xfeab", b"x" * 300)) + random.choice(tags)
        body = b"" if random.random() < 0.3 else bytes(make.valid()[1].data)
        frame = framed(head, body, random.choice((b"", b"", b"\0", b"left over")))
        yield (
            frame
            if random.random() < 0.9
            else struct.pack(">i", random.choice((-1, 0, 2**31 - 1))) + frame[4:]
        )


def schemas(make: Maker) -> Iterator[bytes]:
    """Readable requests of every API and version; their values are usual, odd, or a mixture."""
    while True:
        head, body = make.valid(wild=make.random.choice((0.0, 0.0, 0.05, 0.2, 0.6)))
        yield framed(head, body.data)


def lengths(make: Maker) -> Iterator[bytes]:
    """Requests in which one length is wrong: huge, negative, or slightly off."""
    while True:
        head, body = make.valid()
        for length in body.lengths:
            now = bytes(body.data[length.start : length.end])
            for odd in make.random.sample(_odd_lengths(length.form, now), 2):
                yield framed(head, body.data[: length.start], odd, body.data[length.end :])


def _odd_lengths(form: str, now: bytes) -> list[bytes]:
    if form == "v":
        value = now[0]
        odd = (0, 1, value + 1, max(value - 1, 0), 127, 128, 2**14, 2**21, 2**28, 2**31 - 1, 2**31, 2**32 - 1)
        return [
            *map(uvarint, odd),
            b"\xff\xff\xff\xff\x0f",
            b"\xff\xff\xff\xff\xff\xff",
            b"\x80\x80\x80\x80\x00",
        ]
    (number,) = struct.unpack(f">{form}", now)
    most = 2**15 - 1 if form == "h" else 2**31 - 1
    wrong = (-1, -2, -most - 1, most, most // 2, number + 1, max(number - 1, 0), 10_000)
    return [struct.pack(f">{form}", each) for each in wrong]


def sessions(make: Maker) -> Iterator[bytes]:
    """What real clients sent, some of it damaged."""
    random = make.random
    while True:
        for frame in random.choice(recorded.sessions()):
            if random.random() < 0.6:
                yield framed(frame)
            else:
                yield framed(damaged(frame, random))


def parked(make: Maker) -> Iterator[bytes]:
    """Requests that wait: acks=-1 with followers that don't fetch, long polls, members, transactions."""
    make.values.parks = True
    while True:
        head, body = make.valid(make.random.choice(_PARKING), make.random.choice((0.0, 0.0, 0.0, 0.05)))
        yield framed(head, body.data)


def largest(make: Maker) -> Iterator[bytes]:
    """Requests of every API at their largest, with names in them that occur again and again."""
    yield from map(framed, largest_requests.frames(make, make.most_entries))


MODES: Final[dict[str, Callable[[Maker], Iterator[bytes]]]] = {
    "raw": raw,
    "headers": headers,
    "schemas": schemas,
    "lengths": lengths,
    "sessions": sessions,
    "parked": parked,
    "largest": largest,
}
USUAL: Final = tuple(name for name in MODES if name != "largest")
"""Those that take turns unless one asks for others: the largest requests take longest."""
