"""The poller of macOS and the BSDs, with what Linux has in place of kqueue."""

import socket

import pytest

from mockbroker import MockCluster
from mockbroker.rig import requests
from mockbroker.rig.client import Client
from mockbroker.server import pump
from mockbroker.server.poller import READ, WRITE, SelectorPoller


@pytest.fixture
def poller() -> SelectorPoller:
    return SelectorPoller()


def test_it_tells_what_a_socket_is_ready_for(poller: SelectorPoller) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        poller.watch(ours.fileno(), READ)
        assert poller.poll(0, 64) == []
        theirs.send(b"x")
        assert poller.poll(1, 64) == [(ours.fileno(), READ)]
        poller.change(ours.fileno(), READ | WRITE)
        assert poller.poll(1, 64) == [(ours.fileno(), READ | WRITE)]
        poller.change(ours.fileno(), 0)
        assert poller.poll(0, 64) == []
        poller.change(ours.fileno(), READ)
        theirs.close()
        assert poller.poll(1, 64) == [(ours.fileno(), READ)]
        poller.forget(ours.fileno())
        assert poller.poll(0, 64) == []
    poller.close()


def test_clients_are_served(monkeypatch: pytest.MonkeyPatch, poller: SelectorPoller) -> None:
    monkeypatch.setattr(pump, "new_poller", lambda: poller)
    with MockCluster(brokers=1) as cluster:
        host, port = cluster.bootstrap_servers.split(":")
        clients = [Client(host, int(port)) for _ in range(3)]
        for number, client in enumerate(clients):
            with client:
                name = f"topic-{number}"
                client.call("create_topics", 5, requests.create_topics(requests.new_topic(name)))
                topics = client.call("metadata", 9, {"topics": None})["topics"]
                assert name in {each["name"] for each in topics}
