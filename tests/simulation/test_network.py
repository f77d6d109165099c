"""The network in virtual time, between a cluster and nobody in particular: no world, no model clients."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.messages.api_versions import ApiVersionsRequest
from mockbroker.protocol.messages.metadata import MetadataRequest
from mockbroker.simulation.network import Network
from tests.driving.cluster import a_cluster
from tests.properties import examples

DELAY_MS, TIMEOUT_MS = 10, 1_000
REQUESTS: dict[ApiKey, tuple[int, Any]] = {
    ApiKey.API_VERSIONS: (0, ApiVersionsRequest()),
    ApiKey.METADATA: (1, MetadataRequest([])),
}


class Wires:
    """What came of each request, in the order in which it came."""

    def __init__(self, seed: int = 0) -> None:
        self.cluster = a_cluster()
        self.network = Network(self.cluster, random.Random(seed), DELAY_MS, TIMEOUT_MS)
        self.came: list[tuple[int, bool]] = []
        """The number of a request, and whether it has an answer."""
        self.sent = 0

    def send(
        self, client: str = "c", broker: int = 1, api: ApiKey = ApiKey.API_VERSIONS, lane: str = ""
    ) -> int:
        number, self.sent = self.sent, self.sent + 1
        version, request = REQUESTS[api]
        self.network.send(client, broker, api, version, request, self._came(number), lane)
        return number

    def _came(self, number: int) -> Callable[[Any], None]:
        return lambda answer: self.came.append((number, answer is not None))

    def pass_time(self, ms: int) -> None:
        self.cluster.advance(self.cluster.now_ms + ms)


CONNECTIONS = st.tuples(st.sampled_from("ab"), st.integers(1, 3), st.sampled_from(["", "fetch"]))


@given(sends=st.lists(st.tuples(CONNECTIONS, st.integers(0, 5)), max_size=30), seed=st.integers(0, 99))
@settings(max_examples=examples(50))
def test_answers_of_a_connection_come_in_order(
    sends: list[tuple[tuple[str, int, str], int]], seed: int
) -> None:
    wires = Wires(seed)
    of: dict[tuple[str, int, str], list[int]] = {}
    for where, pause_ms in sends:
        client, broker, lane = where
        of.setdefault(where, []).append(wires.send(client, broker, lane=lane))
        wires.pass_time(pause_ms)
    wires.pass_time(2 * DELAY_MS)
    assert sorted(wires.came) == [(number, True) for number in range(len(sends))]
    for numbers in of.values():
        assert [number for number, _ in wires.came if number in numbers] == numbers


TROUBLE: dict[str, Callable[[Wires], None]] = {
    "send": lambda wires: void(wires.send()),
    "ask for metadata": lambda wires: void(wires.send(api=ApiKey.METADATA)),
    "cut": lambda wires: wires.network.cut("c", 1),
    "mend": lambda wires: wires.network.mend("c", 1),
    "lose an answer": lambda wires: wires.network.lose_answer("c"),
    "lose connections": lambda wires: wires.network.broker_down(1),
    "stop": lambda wires: wires.cluster.processes.stop(1),
    "start": lambda wires: wires.cluster.processes.start(1),
}


def void(_: object) -> None: ...


@given(st.lists(st.tuples(st.sampled_from(sorted(TROUBLE)), st.integers(0, 400)), max_size=25))
@settings(max_examples=examples(100))
def test_whatever_happens_each_request_has_one_end(steps: list[tuple[str, int]]) -> None:
    wires = Wires()
    for what, pause_ms in steps:
        TROUBLE[what](wires)
        wires.pass_time(pause_ms)
    wires.pass_time(2 * TIMEOUT_MS)
    assert sorted(number for number, _ in wires.came) == list(range(wires.sent))


def test_a_connection_that_is_cut_fails_when_its_time_is_over_and_another_is_none_the_worse() -> None:
    wires = Wires()
    wires.network.cut("c", 1)
    cut, other = wires.send(), wires.send("d")
    wires.pass_time(TIMEOUT_MS - 1)
    assert wires.came == [(other, True)]
    wires.pass_time(2)
    assert wires.came == [(other, True), (cut, False)]
    wires.network.mend("c", 1)
    again = wires.send()
    wires.pass_time(2 * DELAY_MS)
    assert wires.came[-1] == (again, True)


@pytest.mark.parametrize("api", [None, ApiKey.METADATA])
def test_an_answer_that_is_lost_takes_those_behind_it_along(api: ApiKey | None) -> None:
    wires = Wires()
    wires.network.lose_answer("c", api)
    wires.send()
    wires.send(api=ApiKey.METADATA)
    wires.send()
    wires.pass_time(3 * DELAY_MS)
    assert len(wires.came) == 3
    answered = [number for number, has_answer in wires.came if has_answer]
    assert answered in ([], [0])[: 1 + (api is not None)]
    after = wires.send(api=ApiKey.METADATA)
    wires.pass_time(2 * DELAY_MS)
    assert wires.came[-1] == (after, True)
