"""What a request costs doesn't depend on what it doesn't name: topics, groups, connections."""

import functools
import sys

import pytest

from benchmarks.growth import KINDS, not_flat
from benchmarks.request_path import LATER, ROWS, Grown, measure
from mockbroker.server.sockets import ClientSocket, ClientSockets

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="counts calls of epoll")

MANY = 60
REQUESTS = ("produce-idempotent", "fetch-1KB", "offset-commit", LATER)
"""Those that do the most."""


@functools.cache
def alone(request: str, authorized: bool) -> int:
    """What it costs where there is nothing else, but perhaps an authorizer."""
    return measure(request, KINDS["acls"](0) if authorized else Grown()).opcodes


@pytest.mark.parametrize("request_", REQUESTS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_request_costs_the_same_however_large_the_cluster_is(kind: str, request_: str) -> None:
    counts = (alone(request_, kind == "acls"), measure(request_, KINDS[kind](MANY)).opcodes)
    assert not not_flat(counts), counts


@pytest.mark.parametrize("kind", ["topics", "connections"])
def test_a_walk_over_all_there_is_is_seen(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    settle = ClientSockets.settle

    def walks(self: ClientSockets, peer: ClientSocket) -> None:
        settle(self, peer)
        every = peer.connection.cluster.topics if kind == "topics" else self.open
        assert sum(1 for _ in every) > 0

    name = "offset-for-leader-epoch"
    monkeypatch.setattr(ClientSockets, "settle", walks)
    few, many = (measure(name, KINDS[kind](n)).opcodes for n in (1, MANY))
    assert not_flat((few, many))


def test_every_request_can_be_measured_beside_others() -> None:
    grown = Grown(lambda cluster: KINDS["topics"](3).on(cluster), connections=2)
    assert all(measure(name, grown).system_calls == 2 for name in ROWS)
