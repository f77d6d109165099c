"""Listeners of brokers that go down and come back, with a poller and no pump."""

import contextlib
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mockbroker.server.failures import ClusterError
from mockbroker.server.listeners import Listeners
from mockbroker.server.observer import ClientConnection, SilentObserver
from mockbroker.server.poller import new_poller
from mockbroker.verbs.brokers import start_broker, stop_broker
from mockbroker.verbs.listeners import close_listener, open_listener
from mockbroker.verbs.subjects import BrokerListener
from mockbroker.verbs.verb import Verb
from tests.driving.cluster import a_cluster
from tests.properties import examples


class Heard(SilentObserver):
    def __init__(self) -> None:
        self.failures: list[Exception] = []

    def failed(self, connection: ClientConnection | None, error: Exception) -> None:
        assert connection is None
        self.failures.append(error)


class Doors:
    def __init__(self) -> None:
        self.cluster = a_cluster()
        self.heard = Heard()
        self.gone: list[int] = []
        self._poller = new_poller()
        self.listeners = Listeners(
            self.cluster, self._poller, self.heard, lambda broker, _: self.gone.append(broker.id)
        )
        for broker in self.cluster.brokers.values():
            broker.endpoint.host, broker.endpoint.port = "127.0.0.1", 0
            self.listeners.listen(broker)
        self.ports = {each.id: each.endpoint.port for each in self.cluster.brokers.values()}

    def is_open(self, broker: int) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.ports[broker]), timeout=10).close()
        except ConnectionRefusedError:
            return False
        return True

    def close(self) -> None:
        self.listeners.close()
        self._poller.close()


@contextlib.contextmanager
def doors() -> Iterator[Doors]:
    made = Doors()
    try:
        yield made
    finally:
        made.close()


VERBS: dict[str, Verb[Any, ...]] = {
    each.name: each for each in (close_listener, open_listener, start_broker, stop_broker)
}


@given(st.lists(st.tuples(st.integers(1, 3), st.sampled_from(sorted(VERBS))), max_size=8))
@settings(max_examples=examples(40))
def test_a_broker_listens_at_its_port_exactly_while_it_is_up(changes: list[tuple[int, str]]) -> None:
    with doors() as at:
        gone = []
        for broker, verb in changes:
            found = at.cluster.brokers[broker]
            before = found.online and found.endpoint.open
            listener = verb in ("close-listener", "open-listener")
            VERBS[verb].attempt(at.cluster, BrokerListener(found, found.endpoint) if listener else found)
            at.listeners.follow()
            for each in at.cluster.brokers.values():
                assert at.is_open(each.id) == (each.online and each.endpoint.open)
            if before and not at.is_open(broker):
                gone.append(broker)
        assert at.gone == gone
        assert not at.heard.failures


def test_a_broker_stays_down_while_another_program_has_its_port(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mockbroker.server.listeners.RETRY_SECONDS", 0)
    with doors() as at, contextlib.ExitStack() as other:
        at.cluster.processes.stop(2)
        at.listeners.follow()
        taken = other.enter_context(socket.socket())
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", at.ports[2]))
        taken.listen()
        at.cluster.processes.start(2)
        for _ in range(3):
            at.listeners.follow()
            at.listeners.try_ports()
            assert not at.cluster.brokers[2].online
        (told,) = at.heard.failures
        assert isinstance(told, ClusterError)
        assert at.listeners.without_port == {2: str(told)}
        taken.close()
        at.listeners.try_ports()
        assert at.cluster.brokers[2].online
        assert at.is_open(2)
        assert not at.listeners.without_port
