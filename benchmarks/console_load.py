"""The clients of a busy cluster, a process of its own: `python -m benchmarks.console_load ADDRESS`.

Sends requests at a steady rate, each when it is due, however late answers are: nine of ten produce a record
to the next partition, the others commit an offset of the next group. Prints a line of JSON at the end.
"""

from __future__ import annotations

import argparse
import gc
import json
import select
import struct
import sys
import time
from collections import deque
from typing import Final

from confluent_kafka.admin import AdminClient

from benchmarks.apis import Broker
from benchmarks.records import build_batch
from benchmarks.wire import CORRELATION, CORRELATION_AT, Connection, Writer
from mockbroker.protocol.api_keys import ApiKey

COMMITS: Final = 10
"""One of so many requests is a commit."""
_PATIENCE_S: Final = 20
_SIZE = struct.Struct(">i")


class Link:
    """A connection with requests in flight, whose answers come in their order."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.due: deque[float] = deque()
        self._answers = bytearray()

    def send(self, frame: bytearray, due: float) -> None:
        CORRELATION.pack_into(frame, CORRELATION_AT, len(self.due))
        self.due.append(due)
        self.connection.socket.sendall(frame)

    def answered(self) -> int:
        """How many answers have come since."""
        self._answers += self.connection.socket.recv(1 << 18)
        at = count = 0
        while len(self._answers) - at >= _SIZE.size:
            end = at + _SIZE.size + _SIZE.unpack_from(self._answers, at)[0]
            if end > len(self._answers):
                break
            at, count = end, count + 1
        del self._answers[:at]
        return count


def produce(topic: str | None, partition: int, batch: bytes) -> bytearray:
    """To the leader, which answers at once."""
    writer = Writer(ApiKey.PRODUCE, 8, flexible=False).put("shi", None, 1, 30_000)
    return writer.put("lslix", 1, topic, 1, partition, batch).done()


def commit(group: str, topic: str | None, partition: int) -> bytearray:
    """Of no member."""
    writer = Writer(ApiKey.OFFSET_COMMIT, 7, flexible=False).put("siss", group, -1, "", None)
    return writer.put("lsliqis", 1, topic, 1, partition, 1, -1, None).done()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.console_load", description=__doc__)
    parser.add_argument("address")
    parser.add_argument("--rate", type=int, default=1000, help="requests a second")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--groups", type=int, default=100)
    given = parser.parse_args()
    gc.disable()
    told = AdminClient({"bootstrap.servers": given.address}).list_topics()
    (topic,) = [each for name, each in told.topics.items() if not name.startswith("__")]
    first = Broker(given.address.split(",")[0])
    links = {
        f"{each.host}:{each.port}": Link(first.connect(f"{each.host}:{each.port}"))
        for each in told.brokers.values()
    }
    leaders = {id_: links[f"{each.host}:{each.port}"] for id_, each in told.brokers.items()}
    batch = build_batch(1, 100)
    frames = [
        (leaders[each.leader], produce(topic.topic, index, batch)) for index, each in topic.partitions.items()
    ]
    with first.connect() as asking:
        commits = [
            (
                links[first.coordinator(asking, f"group-{number}")],
                commit(f"group-{number}", topic.topic, number),
            )
            for number in range(given.groups)
        ]
    sys.stdout.write(json.dumps(run(list(links.values()), frames, commits, given.rate, given.seconds)) + "\n")


def run(
    links: list[Link],
    frames: list[tuple[Link, bytearray]],
    commits: list[tuple[Link, bytearray]],
    rate: int,
    seconds: float,
) -> dict[str, float]:
    """How many were answered a second, and after how many ms from when they were due."""
    poll = select.epoll()
    found = {}
    for each in links:
        found[each.connection.socket.fileno()] = each
        poll.register(each.connection.socket, select.EPOLLIN)
    latencies: list[float] = []
    sent, total, start = 0, int(rate * seconds), time.perf_counter()
    while len(latencies) < total:
        now = time.perf_counter() - start
        while sent < total and sent / rate <= now:
            those = commits if sent % COMMITS == 0 else frames
            link, frame = those[(sent // COMMITS if sent % COMMITS == 0 else sent) % len(those)]
            link.send(frame, sent / rate)
            sent += 1
        if now > seconds + _PATIENCE_S:
            break
        for descriptor, _ in poll.poll(0.001):
            link = found[descriptor]
            count, at = link.answered(), time.perf_counter() - start
            latencies.extend((at - link.due.popleft()) * 1000 for _ in range(count))
    took = time.perf_counter() - start
    latencies.sort()
    return {
        "answers_per_s": round(len(latencies) / took),
        "unanswered": total - len(latencies),
        "p50_ms": round(latencies[len(latencies) // 2], 2),
        "p99_ms": round(latencies[len(latencies) * 99 // 100], 2),
        "longest_ms": round(latencies[-1], 1),
    }


if __name__ == "__main__":
    main()
