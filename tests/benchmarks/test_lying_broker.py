"""The load client must notice every kind of wrong answer. A small broker tells one lie at a time."""

import contextlib
import re
import socket
import struct
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from benchmarks.apis import Broker
from benchmarks.bench import Bench, ScenarioResult
from benchmarks.client import run
from benchmarks.scenarios import choose

PRODUCE, FETCH, METADATA, API_VERSIONS, EPOCH = 0, 1, 3, 18, 23
OFFERED = {PRODUCE: 3, FETCH: 4, METADATA: 1, API_VERSIONS: 0, EPOCH: 2}  # none of them flexible
TRUE_ANSWERS = 40
"""Answers to the requests of one API before the lie starts."""

CUT_OFF = "closed by the broker|Connection reset|Broken pipe"


def string(text: str) -> bytes:
    return struct.pack(">h", len(text)) + text.encode()


@dataclass
class LyingBroker:
    """One thread per connection; `lie` names what goes wrong after the first true answers."""

    lie: str = ""
    log: list[bytes] = field(default_factory=list)
    counts: dict[int, int] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    topic: str = ""
    listener: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.listener.getsockname()[1]}"

    def accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                link, _ = self.listener.accept()
                threading.Thread(target=self.serve, args=(link,), daemon=True).start()

    def serve(self, link: socket.socket) -> None:
        with link, link.makefile("rb") as stream, contextlib.suppress(OSError):
            while head := stream.read(4):
                request = stream.read(*struct.unpack(">i", head))
                key, _, correlation, client = struct.unpack_from(">hhih", request)
                with self.lock:
                    self.counts[key] = self.counts.get(key, 0) + 1
                    lying = self.counts[key] > TRUE_ANSWERS
                    body = self.answer(key, request[10 + client :], self.lie if lying else "")
                if lying and self.lie == "correlation id" and key == PRODUCE:
                    correlation += 1
                if lying and self.lie == "disconnect":
                    return
                link.sendall(struct.pack(">ii", len(body) + 4, correlation) + body)

    def answer(self, key: int, body: bytes, lie: str) -> bytes:
        if key == API_VERSIONS:
            rows = (struct.pack(">hhh", api, 0, highest) for api, highest in OFFERED.items())
            return struct.pack(">hi", 0, len(OFFERED)) + b"".join(rows)
        if key == METADATA:
            size = struct.unpack_from(">h", body, 4)[0]
            self.topic = body[6 : 6 + size].decode()
            self.log = []
            port = self.listener.getsockname()[1]
            broker = struct.pack(">ii", 1, 7) + string("127.0.0.1") + struct.pack(">ihi", port, -1, 7)
            partition = struct.pack(">bihiiiiii", 0, 1, 0, 0, 7, 1, 7, 1, 7)
            return broker + struct.pack(">ih", 1, 0) + string(self.topic) + partition
        if key == PRODUCE:
            batch_at = 2 + 2 + 4 + 4 + 2 + len(self.topic) + 4 + 4 + 4
            base = len(self.log)
            if lie != "lost":
                self.log.append(body[batch_at:])
            base += (lie == "base offset") - (lie == "repeated offset")
            error = 6 if lie == "error code" else 0
            partition = struct.pack(">iihqqi", 1, 0, error, base, -1, 0)
            return struct.pack(">i", 1) + string(self.topic) + partition
        if key == FETCH:
            (offset,) = struct.unpack_from(">q", body, len(body) - 12)
            records = self.fetched(offset, lie)
            partition = struct.pack(">iihqqii", 1, 0, 0, len(self.log), len(self.log), 0, len(records))
            return struct.pack(">ii", 0, 1) + string(self.topic) + partition + records
        end = len(self.log) + (lie == "end offset")
        return struct.pack(">ii", 0, 1) + string(self.topic) + struct.pack(">ihiiq", 1, 0, 0, 0, end)

    def fetched(self, offset: int, lie: str) -> bytes:
        if offset == len(self.log):
            return b""
        batch = bytearray(self.log[offset])
        struct.pack_into(">q", batch, 0, offset + (lie == "fetched offset"))
        if lie == "corrupt":
            batch[-9] ^= 1
        return bytes(batch[: len(batch) // 2] if lie == "cut batch" else batch)


@contextlib.contextmanager
def broker_that_lies(lie: str) -> Iterator[LyingBroker]:
    broker = LyingBroker(lie)
    thread = threading.Thread(target=broker.accept)
    thread.start()
    try:
        yield broker
    finally:
        broker.listener.shutdown(socket.SHUT_RDWR)
        broker.listener.close()
        thread.join()


def outcome_of(scenario_name: str, lie: str) -> ScenarioResult:
    with broker_that_lies(lie) as broker:
        bench = Bench(Broker(broker.address), None, seconds=0.05, warm_up=0.02)
        return run(bench, choose(scenario_name)[0])


@pytest.mark.parametrize(
    "scenario", ["produce-100B-1", "produce-100B-16", "fetch-1KB", "epoch-16", "connections-64"]
)
def test_a_truthful_broker_is_believed(scenario: str) -> None:
    outcome = outcome_of(scenario, "")
    assert outcome.error is None
    assert outcome.answers > 0


LIES = {
    "produce-100B-1": {"base offset": "offset 41 in the answer, expected 40"},
    "produce-100B-64": {
        "base offset": "offset 41 in the answer, expected 40",
        "repeated offset": "offset 39 in the answer, expected 40",
    },
    "produce-100B-16": {
        "correlation id": "correlation id",
        "error code": "error code 6",
        "lost": "offset 40 in the answer, expected 41",
        "disconnect": CUT_OFF,
    },
    "fetch-1KB": {
        "corrupt": "CRC-32C",
        "fetched offset": "fetched batch starts at offset",
        "cut batch": "fetch without the record at offset",
    },
    "epoch-1": {"end offset": "offset 101 in the answer, expected 100"},
    "connections-64": {
        "correlation id": "correlation id",
        "error code": "error code 6",
        "repeated offset": "acknowledged twice",
        "disconnect": CUT_OFF,
    },
}
"""By scenario: lies, and how each is noticed."""


@pytest.mark.parametrize(
    ("scenario", "lie", "noticed"),
    [(scenario, *each) for scenario, lies in LIES.items() for each in lies.items()],
)
def test_a_lie_is_noticed(scenario: str, lie: str, noticed: str) -> None:
    outcome = outcome_of(scenario, lie)
    assert outcome.error is not None
    assert re.search(noticed, outcome.error)
    assert outcome.rate is None
