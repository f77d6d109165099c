"""A capture of connections that are none: no socket, no cluster."""

import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mockbroker.captures import messages
from mockbroker.outcome import Client
from mockbroker.protocol.capture_files import read
from mockbroker.server.capture import Capture
from mockbroker.server.failures import OutputLostError
from tests.driving.cluster import a_cluster
from tests.properties import examples

HEARTBEAT = struct.Struct(">ihhih2sh1sih1s")
SIZE = HEARTBEAT.size
BROKER = a_cluster(brokers=1).brokers[1]


def request(number: int) -> bytes:
    """A Heartbeat of version 0."""
    return HEARTBEAT.pack(SIZE - 4, 12, 0, number, 2, b"me", 1, b"g", number, 1, b"m")


def answer(number: int) -> bytes:
    return struct.pack(">iih", 6, number, 0)


class Peer:
    """A client of a broker, at its address."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.broker = BROKER
        self.client = Client(f"/{name}", name)
        self.client_id: str | None = None


@given(
    st.lists(
        st.tuples(st.sampled_from([50_001, 50_002]), st.integers(1, 4), st.integers(0, SIZE)), max_size=6
    ),
    st.integers(1, 30),
)
@settings(max_examples=examples(50))
def test_a_client_that_comes_again_from_its_port_is_read_from_its_beginning(
    tmp_path_factory: pytest.TempPathFactory, connections: list[tuple[int, int, int]], piece: int
) -> None:
    """Each sends some requests and a part of another one, in pieces, and hears half an answer in the end."""
    path = tmp_path_factory.mktemp("captured") / "wire.pcapng"
    capture = Capture(path, lambda error: pytest.fail(str(error)))
    expected = []
    for port, count, part in connections:
        peer = Peer(f"127.0.0.1:{port}")
        capture.opened(peer)
        sent = b"".join(map(request, range(count))) + request(99)[: min(part, SIZE - 1)]
        for start in range(0, len(sent), piece):
            capture.received(peer, sent[start : start + piece])
        for asked in range(count):
            capture.sent(peer, answer(asked))
        capture.sent(peer, answer(99)[:7])
        capture.closed(peer)
        expected += [(port, True, each) for each in range(count)]
        expected += [(port, False, each) for each in range(count)]
    capture.close()
    with path.open("rb") as file:
        found = [(each.client[1], each.is_request, each.correlation_id) for each in messages(read(file))]
    assert found == expected


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_what_can_not_be_written_is_told_once(tmp_path: Path) -> None:
    lost: list[OutputLostError] = []
    full = Path("/dev/full")
    capture = Capture(full, lost.append)
    peer = Peer("127.0.0.1:50001")
    capture.opened(peer)
    capture.received(peer, request(0))
    capture.closed(peer)
    capture.close()
    assert [each.path for each in lost] == [full]
