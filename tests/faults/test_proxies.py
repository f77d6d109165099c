"""What Toxiproxy and Kafka's fault proxy can do, as `docs/faults.md` says it here: each row is run."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from mockbroker import MockCluster, MockProxy
from mockbroker.rig.client import DisconnectedError

from ..driving import wire
from ..driving.asking import Asking
from ..driving.clients import address, raw_client
from ..driving.tables import rows, run_row

TOXICS = rows("faults.md", 'a fault with `when="after"`:')
RULES = rows("faults.md", "by its `add_fault`:")
ROWS = {**TOXICS, **RULES}
FAILS = "REBALANCE_IN_PROGRESS"
Check = Callable[[Asking, Any], object]


@pytest.fixture
def cluster() -> Iterator[MockCluster]:
    with MockCluster(topics={"orders": 3}, brokers=1) as running:
        yield running


def failed(asking: Asking, count: int) -> list[bool]:
    """Which of so many heartbeats have the error of the fault."""
    return [asking.heartbeat() == FAILS for _ in range(count)]


def at_least(ms: int) -> Check:
    """The heartbeat takes so long."""

    def check(asking: Asking, _: Any) -> bool:
        began = time.monotonic()
        asking.heartbeat()
        return time.monotonic() - began >= ms / 1000

    return check


def ends(size: int = 0, ms: int = 0) -> Check:
    """The connection ends after so many bytes of the answer, and no sooner than after so long."""

    def check(asking: Asking, _: Any) -> bool:
        began = time.monotonic()
        return len(read(asking.cluster)) == size and time.monotonic() - began >= ms / 1000

    return check


def read(cluster: MockCluster) -> bytes:
    """All that comes back for a heartbeat, until the connection ends."""
    with socket.create_connection(address(cluster), 60) as client:
        client.sendall(wire.request(12, 0, struct.pack(">h7sih", 7, b"billing", 0, 0), 1))
        return client.makefile("rb").read()


def is_reset(asking: Asking, _: Any) -> bool:
    with pytest.raises(ConnectionResetError):
        read(asking.cluster)
    return True


def silent(asking: Asking, made: Any) -> bool:
    with raw_client(asking.cluster, timeout_s=0.1) as client:
        client.send("heartbeat", 3, {"group_id": "billing"})
        made.wait()
        with pytest.raises(TimeoutError):
            client.read_frame()
    return True


def sometimes(asking: Asking, made: Any) -> bool:
    for _ in range(20):
        try:
            asking.heartbeat()
        except ConnectionError:
            continue
    return bool(0 < made.hits < 20)


def only(client_id: str, found: Callable[[Asking], bool]) -> Check:
    """Clients of that name are affected, and others are not."""
    return lambda asking, _: (found(Asking(asking.cluster, client_id)), found(asking)) == (True, False)


def cut_off(asking: Asking) -> bool:
    try:
        asking.heartbeat()
    except DisconnectedError:
        return True
    return False


def proxied(asking: Asking, made: MockProxy) -> bool:
    with made as proxy, raw_client(proxy) as client:
        [topic] = client.call("metadata", 9, {"topics": [{"name": "orders"}]})["topics"]
        return len(topic["partitions"]) == 3


CHECKS: dict[str, Check] = {
    "latency": at_least(15),
    "enabled": lambda asking, _: not asking.is_up(1),
    # An answer of Heartbeat has 16 bytes.
    "bandwidth": at_least(5),
    "slow_close": ends(ms=20),
    "timeout": silent,
    "reset_peer": is_reset,
    "slicer": at_least(5),
    "limit_data": ends(5),
    "toxicity": sometimes,
    "/reset": lambda asking, _: failed(asking, 1) == [False],
    "inFrontOf": proxied,
    "injectError": lambda asking, _: failed(asking, 2) == [True, True],
    "disconnectOn": ends(),
    "delayOn": at_least(20),
    "blackholeClient": only("eu-billing-1", cut_off),
    "forClient": only("eu-billing-1", lambda asking: asking.heartbeat() == FAILS),
    "once": lambda asking, _: failed(asking, 3) == [True, False, False],
    "onCall": lambda asking, _: failed(asking, 3) == [False, True, False],
    "times": lambda asking, _: failed(asking, 3) == [True, True, False],
    "everyTime": lambda asking, _: failed(asking, 3) == [True, True, True],
    "withProbability": lambda asking, _: set(failed(asking, 20)) == {True, False},
    "timesTriggered": lambda asking, hits: failed(asking, 3) and hits() == 1,
    "timesMatched": lambda asking, hits: failed(asking, 3) and hits() == 3,
    "remove": lambda asking, _: failed(asking, 1) == [False],
    "clearFaults": lambda asking, _: failed(asking, 1) == [False],
}


def test_every_row_has_a_check() -> None:
    assert list(ROWS) == list(CHECKS)


@pytest.mark.parametrize("row", ROWS)
def test_a_row(cluster: MockCluster, row: str) -> None:
    assert CHECKS[row](Asking(cluster), run_row(ROWS[row], cluster=cluster, MockProxy=MockProxy))
