"""Clients that reach the brokers by other addresses than those on which they listen."""

import contextlib
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer

from mockbroker import MockCluster
from mockbroker.errors import OptionError
from mockbroker.rig.client import Client
from mockbroker.server.advertised import addresses
from mockbroker.trace import Event


class Forwarder:
    """Forwards ports of its own, one for each broker, as a container's are; counts connections by broker."""

    def __init__(self, brokers: int) -> None:
        self._servers = [socket.create_server(("127.0.0.1", 0)) for _ in range(brokers)]
        self.ports = [each.getsockname()[1] for each in self._servers]
        self.came: Counter[int] = Counter()
        self.names: set[str] = set()
        """Its own addresses at brokers."""
        self._sockets: list[socket.socket] = []
        self._accepting: list[threading.Thread] = []

    def to(self, listeners: str) -> None:
        for number, (server, listener) in enumerate(zip(self._servers, listeners.split(","), strict=True)):
            host, port = listener.split(":")
            target = number, server, (host, int(port))
            self._accepting.append(threading.Thread(target=self._accept, args=target, daemon=True))
            self._accepting[-1].start()

    def _accept(self, number: int, server: socket.socket, target: tuple[str, int]) -> None:
        with contextlib.suppress(OSError):
            while True:
                client = server.accept()[0]
                # A client comes again when its broker has gone.
                self._sockets.append(client)
                self.came[number] += 1
                broker = socket.create_connection(target)
                self._sockets.append(broker)
                self.names.add("{}:{}".format(*broker.getsockname()))
                for one, other in ((client, broker), (broker, client)):
                    threading.Thread(target=self._copy, args=(one, other), daemon=True).start()

    def _copy(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        shut(self._servers)
        for each in self._accepting:
            each.join()
        shut(self._sockets)


def shut(sockets: list[socket.socket]) -> None:
    for each in sockets:
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
        each.close()


@pytest.fixture
def forwarder() -> Iterator[Forwarder]:
    forwarder = Forwarder(2)
    yield forwarder
    forwarder.close()


def test_a_client_comes_through_forwarded_ports_and_by_no_other_way(forwarder: Forwarder) -> None:
    advertise = [f"localhost:{port}" for port in forwarder.ports]
    config = {"offsets.topic.num.partitions": "2"}
    with MockCluster(
        brokers=2, topics={"orders": 2}, advertise=advertise, config=config, trace=True
    ) as cluster:
        forwarder.to(cluster.listeners)
        assert cluster.bootstrap_servers == ",".join(advertise)
        servers = {"bootstrap.servers": advertise[0]}
        producer = Producer(servers)
        for partition in (0, 1):
            producer.produce("orders", b"x", partition=partition)
        assert producer.flush(30) == 0
        consumer = Consumer({**servers, "group.id": "g", "auto.offset.reset": "earliest"})
        consumer.subscribe(["orders"])
        seen = 0
        while seen < 2:
            message = consumer.poll(30)
            assert message is not None
            assert message.error() is None
            seen += 1
        consumer.close()
        names = {each.connection for each in requests(cluster)}
    assert set(forwarder.came) == {0, 1}
    assert names <= forwarder.names


def requests(cluster: MockCluster) -> list[Any]:
    found: list[Event] = cluster.trace.events("request")
    return found


def test_every_answer_with_an_address_has_that_which_is_advertised() -> None:
    with MockCluster(brokers=2, advertise="kafka.example:19092") as cluster:
        host, port = cluster.listeners.split(",")[1].split(":")
        told = {("kafka.example", 19092), ("kafka.example", 19093)}
        with Client(host, int(port)) as client:
            for api, version, fields in (
                ("metadata", 12, {"topics": None}),
                ("describe_cluster", 1, {"endpoint_type": 1}),
            ):
                brokers = client.call(api, version, fields)["brokers"]
                assert {(each["host"], each["port"]) for each in brokers} == told
            found = client.call("find_coordinator", 2, {"key": "g", "key_type": 0})
            assert (found["host"], found["port"]) in told
            asked = {"resource_type": 4, "resource_name": "2", "configuration_keys": None}
            [broker] = client.call("describe_configs", 4, {"resources": [asked]})["results"]
            values = {each["name"]: each["value"] for each in broker["configs"]}
        assert values["advertised.listeners"] == "PLAINTEXT://kafka.example:19093"
        assert values["listeners"] == f"PLAINTEXT://{host}:{port}"


def test_a_host_alone_goes_with_the_ports_of_the_brokers_also_once_they_are_back() -> None:
    with MockCluster(brokers=2, advertise="localhost") as cluster:
        told = cluster.bootstrap_servers
        assert told == cluster.listeners.replace("127.0.0.1", "localhost")
        cluster.stop_broker(2)
        cluster.start_broker(2)
        host, port = cluster.listeners.split(",")[1].split(":")
        with Client(host, int(port)) as client:
            assert len(client.call("metadata", 12, {"topics": None})["brokers"]) == 2
        assert cluster.bootstrap_servers == told


@pytest.mark.parametrize(
    ("given", "brokers", "found"),
    [
        (None, 2, None),
        ("h", 2, [("h", 0), ("h", 0)]),
        ("h:1", 2, [("h", 1), ("h", 2)]),
        ("h:1,h:5", 2, [("h", 1), ("h", 5)]),
        (["a", "b:5"], 2, [("a", 0), ("b", 5)]),
        ("[::1]:9", 1, [("::1", 9)]),
    ],
)
def test_addresses_are_read(given: Any, brokers: int, found: Any) -> None:
    assert addresses(given, brokers) == found


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("h:x", "write it as HOST or HOST:PORT"),
        ("h:0", "write it as HOST or HOST:PORT"),
        ("", "write it as HOST or HOST:PORT"),
        ("PLAINTEXT://h:1", "write it as HOST or HOST:PORT"),
        ("h:65535", "65535 is the last"),
        ("h:1,h:2,h:3", "3 addresses to advertise for 2 brokers"),
        ("h:1,h:1", "h:1 is advertised for two brokers"),
        (9092, "give an address"),
        ([9092], "give an address"),
    ],
)
def test_what_is_no_address_is_told(given: Any, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        MockCluster(brokers=2, advertise=given).start()
