"""Attacks by single requests that have many entries, or whose answers would be large.

Most need something to be there first; then they are sent again and again, each on a connection of its own.
"""

from __future__ import annotations

import socket
import struct
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import Final

from benchmarks.attacking import (
    Target,
    answer,
    ask,
    begun,
    create_topics,
    in_batches,
    one_after_the_other,
    wait,
)
from benchmarks.large_frames import (
    AT_ONCE,
    commit,
    fetch,
    fetched,
    heartbeat,
    joining,
    produce,
    strings,
    subscriptions,
    topic,
    transactional,
    transactions_listed,
)
from benchmarks.wire import Writer
from mockbroker.protocol.api_keys import ApiKey

_MANY: Final = 20_000
_MOST_NAMES: Final = 90_000
_IN_FLIGHT: Final = 100
_READY_SECONDS: Final = 30


def same_group(target: Target) -> None:
    """OffsetFetch of 2.5 KB that names one group 500 times, which has 20,000 offsets with 4 KB each."""
    with target.connect() as sock:
        _create(sock, "committed", _MANY)
        _coordinated(sock, "busy", 0)
        for some in in_batches(range(_MANY), 200):
            ask(sock, commit("busy", "committed", some, "m" * 4000))
    writer = Writer(ApiKey.OFFSET_FETCH, 8, flexible=True).put("l", 500)
    for _ in range(500):
        writer.put("slt", "busy", -1)
    one_after_the_other(target, bytes(writer.put("bt", 0).done()))


def one_session(target: Target) -> None:
    """A fetch session of 90,000 partitions that is asked without an end, and opened again every 20 times."""
    _sessions(target, 1, _MOST_NAMES)


def five_sessions(target: Target) -> None:
    """Five sessions of 18,000 partitions each, in turn."""
    _sessions(target, 5, 18_000)


def list_transactions(target: Target) -> None:
    """ListTransactions with 20,000 producer ids as a filter, over 20,000 transactional ids."""
    with target.connect() as sock:
        ids = [producer for producer, _ in _producers(sock, [f"t-{number}" for number in range(_MANY)])]
    one_after_the_other(target, transactions_listed(range(-len(ids), 0)), transactions_listed(ids))


def pattern(target: Target) -> None:
    """ListTransactions v2 with `(a+)+`, where an id has 26 letters a and another one."""
    with target.connect() as sock:
        _producers(sock, ["a" * 26 + "!"])
    one_after_the_other(target, transactions_listed((), "(a+)+"))


def end_txn(target: Target) -> None:
    """Transactions of 20,000 partitions, which are begun and ended."""
    with target.connect() as sock:
        _create(sock, "ended", _MANY)
        ((producer, epoch),) = _producers(sock, ["ends"])
        begun()
        while target.going_on:
            adding = transactional(ApiKey.ADD_PARTITIONS_TO_TXN, "ends", producer, epoch).put("l", 1)
            topic(adding, "ended", range(_MANY))
            ask(sock, bytes(adding.done()))
            ask(sock, bytes(transactional(ApiKey.END_TXN, "ends", producer, epoch).put("b", 1).done()))
    wait(target)


def regexes(target: Target) -> None:
    """100 members of a consumer group, each with a regular expression of its own over 10,000 topics."""
    with target.connect() as sock:
        for some in in_batches(range(10_000), 1000):
            ask(sock, create_topics([f"topic-{number}" for number in some]))
        _coordinated(sock, "regexes", 0)
        begun()
        turn = 0
        while target.going_on:
            turn += 1
            for number in range(100):
                regex = f"(topic|{turn})-.*{number}[0-9]*"
                ask(sock, heartbeat(f"regexes-{turn}", f"member-{number}", regex=regex))
            for number in range(100):
                ask(sock, heartbeat(f"regexes-{turn}", f"member-{number}", epoch=1))
    wait(target)


def names_of_a_member(target: Target) -> None:
    """ConsumerGroupHeartbeat of a member that subscribes to 90,000 topics."""
    with target.connect() as sock:
        _coordinated(sock, "names", 0)
    names = _names("name")
    frames = [heartbeat("names", f"member-{number}", names=names) for number in range(3)]
    one_after_the_other(target, *frames)


def streams_topology(target: Target) -> None:
    """Members of ten streams groups with 98,000 tasks each join again and again, each time from elsewhere."""
    with target.connect() as sock:
        _create(sock, "lines", 1000)
        _coordinated(sock, "tasks", 0)
    reading = [{"subtopology_id": str(number), "source_topics": ["lines"]} for number in range(98)]
    one_after_the_other(
        target,
        *(
            joining(f"tasks-{number % 10}", f"member-{number % 20}", f"process-{number}", reading)
            for number in range(60)
        ),
    )


def client_metrics(target: Target) -> None:
    """IncrementalAlterConfigs of 30,000 client-metrics subscriptions, then GetTelemetrySubscriptions."""
    writer = Writer(ApiKey.INCREMENTAL_ALTER_CONFIGS, 0, flexible=False).put("l", 30_000)
    for number in range(30_000):
        writer.put("bslsbs", 16, f"subscription-{number}", 1, "metrics", 0, "org.apache.kafka.")
    asks = [subscriptions(uuid.UUID(int=number + 1)) for number in range(50)]
    one_after_the_other(target, bytes(writer.put("b", 0).done()), *asks)


def markers(target: Target) -> None:
    """WriteTxnMarkers of 1,000 producers for 90 partitions each."""
    with target.connect() as sock:
        _create(sock, "marked", 90)
    writer = Writer(ApiKey.WRITE_TXN_MARKERS, 1, flexible=True).put("l", 1000)
    for number in range(1000):
        writer.put("qhbl", number, 0, 0, 1)
        topic(writer, "marked", range(90))
        writer.put("it", 0)
    one_after_the_other(target, bytes(writer.put("t").done()))


def quotas(target: Target) -> None:
    """AlterClientQuotas of 30,000 users."""
    writer = Writer(ApiKey.ALTER_CLIENT_QUOTAS, 0, flexible=False).put("l", 30_000)
    for number in range(30_000):
        writer.put("lsslsdb", 1, "user", f"user-{number}", 1, "producer_byte_rate", 1e9, 0)
    one_after_the_other(target, bytes(writer.put("b", 0).done()))


def describe_transactions(target: Target) -> None:
    """DescribeTransactions of 90,000 ids."""
    writer = Writer(ApiKey.DESCRIBE_TRANSACTIONS, 0, flexible=True)
    strings(writer, _names("transaction"))
    writer.put("t")
    with target.connect() as sock:
        _producers(sock, ["any"])
    one_after_the_other(target, bytes(writer.done()))


def describe_groups(target: Target) -> None:
    """DescribeGroups of 90,000 ids."""
    writer = Writer(ApiKey.DESCRIBE_GROUPS, 0, flexible=False)
    strings(writer, _names("group"))
    with target.connect() as sock:
        _coordinated(sock, "any", 0)
    one_after_the_other(target, bytes(writer.done()))


def offset_commit(target: Target) -> None:
    """OffsetCommit of 20,000 partitions."""
    with target.connect() as sock:
        _create(sock, "commits", _MANY)
        _coordinated(sock, "commits", 0)
    one_after_the_other(target, commit("commits", "commits", range(_MANY), ""))


def describe_producers(target: Target) -> None:
    """DescribeProducers that names one partition 20 times, to which 50,000 producers wrote."""
    with target.connect() as sock:
        _create(sock, "written", 1)
        _pipelined(sock, (produce("written", producer) for producer in range(50_000)))
    writer = Writer(ApiKey.DESCRIBE_PRODUCERS, 0, flexible=True).put("l", 1)
    topic(writer, "written", [0] * 20)
    one_after_the_other(target, bytes(writer.put("t").done()))


def misspelt(target: Target) -> None:
    """`GET /topics/typo` of the control API, with 10,000 topics whose names have 100 letters."""
    with target.connect() as sock:
        for some in in_batches(range(10_000), 1000):
            ask(
                sock, create_topics([f"{number:05}".ljust(100, "abcdefghij"[number % 10]) for number in some])
            )
    begun()
    typo = "typo".ljust(100, "a")
    while target.going_on:
        try:
            urllib.request.urlopen(f"{target.control}/topics/{typo}", timeout=60).close()
        except urllib.error.HTTPError as refused:
            refused.close()
        except OSError:
            continue


LARGE_REQUESTS: Final[dict[str, Callable[[Target], None]]] = {
    "same-group": same_group,
    "one-session": one_session,
    "five-sessions": five_sessions,
    "list-txns": list_transactions,
    "pattern": pattern,
    "end-txn": end_txn,
    "regexes": regexes,
    "member-names": names_of_a_member,
    "streams-topology": streams_topology,
    "client-metrics": client_metrics,
    "markers": markers,
    "quotas": quotas,
    "describe-txns": describe_transactions,
    "describe-groups": describe_groups,
    "offset-commit": offset_commit,
    "producers": describe_producers,
    "misspelt": misspelt,
}
"""By name; some take half a minute to prepare."""


def _sessions(target: Target, count: int, partitions: int) -> None:
    with target.connect() as sock:
        for name, here in fetched(partitions):
            _create(sock, name, here)
    with ExitStack() as stack:
        socks = [stack.enter_context(target.connect()) for _ in range(count)]
        opening = fetch(0, 0, partitions)
        opened = 0
        while target.going_on:
            ids = [struct.unpack_from(">i", ask(sock, opening), 6)[0] for sock in socks]
            if not opened:
                begun()
            opened += 1
            for epoch in range(1, 20):
                for sock, session in zip(socks, ids, strict=True):
                    ask(sock, fetch(session, epoch, 0))
    wait(target)


def _create(sock: socket.socket, topic: str, partitions: int) -> None:
    """A topic; brokers refuse to make 10,000 partitions in one request. ConnectionError."""
    count = min(partitions, AT_ONCE)
    made = ask(sock, create_topics([topic], count))
    if struct.unpack_from(">h", made, 10 + len(topic))[0]:
        raise ConnectionError(f"could not create {topic}: {made!r}")
    while count < partitions:
        count = min(partitions, count + AT_ONCE)
        writer = Writer(ApiKey.CREATE_PARTITIONS, 0, flexible=False)
        ask(sock, bytes(writer.put("lsilib", 1, topic, count, -1, 30_000, 0).done()))


def _coordinated(sock: socket.socket, key: str, kind: int) -> None:
    """Waits until there is a coordinator. TimeoutError."""
    frame = Writer(ApiKey.FIND_COORDINATOR, 1, flexible=False).put("sb", key, kind).done()
    _ready(sock, bytes(frame), f"coordinator of {key}")


def _ready(sock: socket.socket, frame: bytes, what: str) -> None:
    """Asks until the answer has no error. TimeoutError."""
    limit = time.monotonic() + _READY_SECONDS
    while struct.unpack_from(">h", ask(sock, frame), 4)[0]:
        if time.monotonic() > limit:
            raise TimeoutError(f"no {what}")
        time.sleep(0.05)


def _producers(sock: socket.socket, names: list[str]) -> list[tuple[int, int]]:
    """Producer id and epoch of each transactional id."""
    _coordinated(sock, names[0], 1)

    def asked(name: str) -> bytes:
        return bytes(Writer(ApiKey.INIT_PRODUCER_ID, 0, flexible=False).put("si", name, 60_000).done())

    _ready(sock, asked(names[0]), "producer id")
    return [struct.unpack_from(">qh", each, 6) for each in _pipelined(sock, map(asked, names))]


def _pipelined(sock: socket.socket, frames: Iterable[bytes]) -> list[bytes]:
    """The beginnings of the answers to all of them."""
    answers = []
    for some in in_batches(frames, _IN_FLIGHT):
        sock.sendall(b"".join(some))
        answers += [answer(sock) for _ in some]
    return answers


def _names(base: str) -> list[str]:
    return [f"{base}-{number}" for number in range(_MOST_NAMES)]
