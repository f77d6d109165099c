"""Clients that harm a broker, on purpose or by mistake.

`python -m benchmarks.attackers NAME HOST:PORT TOPIC SECONDS`. Each is bounded in time and in what it sends,
and writes a line once it has begun. Attacks by single requests with many entries are in `large_requests`,
those on TLS in `tls_attacks`, those on logins in `login_attacks`.
"""

from __future__ import annotations

import argparse
import struct
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Final

import cramjam
from crc32c import crc32c

from benchmarks.attacking import Target, ask, begun, create_topics, many, one_after_the_other, wait
from benchmarks.large_frames import produce_frame, strings
from benchmarks.large_requests import LARGE_REQUESTS
from benchmarks.login_attacks import LOGIN_ATTACKS
from benchmarks.records import build_batch
from benchmarks.tls_attacks import TLS_ATTACKS
from benchmarks.wire import Writer
from mockbroker.protocol.api_keys import ApiKey

_ZSTD: Final = 4


def huge_array(target: Target) -> None:
    """Metadata v9 of 21 bytes that announces four thousand million topics, again and again."""
    frame = bytes.fromhex("00000011 00030009 00000001 000178 00 ffffffff0f")
    one_after_the_other(target, frame)


def bomb_frame(topic: str, megabytes: int = 2000) -> bytearray:
    """Produce with one zstd batch of some 60 KB that holds zeros without end."""
    compressor = cramjam.zstd.Compressor()
    zeros = bytes(1 << 20)
    compressed = bytearray()
    for _ in range(megabytes):
        compressor.compress(zeros)
        compressed += bytes(compressor.flush())
    compressed += bytes(compressor.finish())
    tail = struct.pack(">hiqqqhii", _ZSTD, 0, 0, 0, -1, -1, -1, 1) + compressed
    batch = struct.pack(">qiibI", 0, len(tail) + 9, -1, 2, crc32c(tail)) + tail
    return produce_frame(topic, [batch])


def bomb(target: Target) -> None:
    """A batch of 60 KB that would decompress to 2 GB, again and again."""
    one_after_the_other(target, bytes(bomb_frame(target.topic)))


def reserve(target: Target) -> None:
    """60 connections that announce 100 MB each, and send no more."""
    with ExitStack() as stack:
        for _ in range(60):
            stack.enter_context(target.connect()).sendall(struct.pack(">i", 100_000_000))
        begun()
        wait(target)


def pipeline(target: Target) -> None:
    """One connection that sends requests as fast as it can, and reads all answers."""
    many(target, [_metadata([target.topic]) * 500], 1)


def park(target: Target) -> None:
    """100 connections with thousands of fetches, each of which waits until something is produced."""
    many(target, [_fetch(target.topic) * 2000], 100)


def deaf(target: Target) -> None:
    """40 connections that ask for all of a thousand topics, and never read."""
    with target.connect() as sock:
        ask(sock, _metadata([f"deaf-{number}" for number in range(1000)], create=True))
    many(target, [_metadata(None) * 2000], 40, reading=False)


def million_topics(target: Target) -> None:
    """Metadata of a million topics that are not there, and CreateTopics of as many, in turn."""
    names = [f"{number:07}" for number in range(1_000_000)]
    one_after_the_other(target, _metadata(names), create_topics(names))


def megabytes_of_records(target: Target) -> None:
    """Produce of 100 MB: as many records of 100 B as go into each of 100 batches, one for each partition."""
    with target.connect() as sock:
        ask(sock, create_topics(["records"], partitions=100))
    batch = build_batch(8000, 100)
    one_after_the_other(target, bytes(produce_frame("records", [batch] * 100)))


def configs(target: Target) -> None:
    """DescribeConfigs of 5,000 resources."""
    writer = Writer(ApiKey.DESCRIBE_CONFIGS, 1, flexible=False).put("l", 5000)
    for _ in range(5000):
        writer.put("bsl", 2, target.topic, -1)
    one_after_the_other(target, bytes(writer.put("b", 1).done()))


def dotted(target: Target) -> None:
    """Metadata that creates 5,000 topics with dots in their names, and then as many others."""
    frames = [_metadata([f"a.{turn}.{number}" for number in range(5000)], create=True) for turn in range(20)]
    one_after_the_other(target, *frames)


def many_topics(target: Target) -> None:
    """CreateTopics of 5,000 topics, as many as go into one request, and then of others."""
    frames = [create_topics([f"created-{turn}-{number}" for number in range(5000)]) for turn in range(20)]
    one_after_the_other(target, *frames)


FLOODS: Final[dict[str, Callable[[Target], None]]] = {
    "huge-array": huge_array,
    "bomb": bomb,
    "reserve": reserve,
    "pipeline": pipeline,
    "park": park,
    "deaf": deaf,
    "million-topics": million_topics,
    "records": megabytes_of_records,
    "configs": configs,
    "dotted": dotted,
    "create-topics": many_topics,
}

ATTACKS: Final = FLOODS | LARGE_REQUESTS | TLS_ATTACKS | LOGIN_ATTACKS


def _metadata(names: list[str] | None, *, create: bool = False) -> bytes:
    writer = Writer(ApiKey.METADATA, 4, flexible=False)
    strings(writer, names)
    return bytes(writer.put("b", create).done())


def _fetch(topic: str) -> bytes:
    """More than there will be, so that it waits for as long as it may: 100 ms."""
    writer = Writer(ApiKey.FETCH, 4, flexible=False).put("iiiib", -1, 100, 1 << 30, 1 << 30, 0)
    return bytes(writer.put("lsliqi", 1, topic, 1, 0, 0, 1).done())


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attackers", description=__doc__)
    parser.add_argument("name", choices=list(ATTACKS))
    parser.add_argument("address", help="HOST:PORT of a broker")
    parser.add_argument("topic")
    parser.add_argument("seconds", type=float)
    parser.add_argument("--control", help="address of the control API")
    given = parser.parse_args()
    until = time.monotonic() + given.seconds
    ATTACKS[given.name](Target(given.address, given.topic, until, given.control))


if __name__ == "__main__":
    main()
