"""A cluster that listens on an IPv6 address: real clients take every address that it tells."""

import logging
import socket
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient

from mockbroker import MockCluster
from mockbroker.addresses import as_java_has_it, joined, of_client, parted
from mockbroker.captures.decode import messages
from mockbroker.errors import OptionError
from mockbroker.protocol.capture_files import read
from mockbroker.rig.scene import Target
from mockbroker.server.advertised import addresses
from mockbroker.server.listening import PortInUseError

QUIET = {"logger": logging.Logger("quiet", logging.CRITICAL)}
LIMIT_S = 60.0


@pytest.mark.parametrize(
    ("host", "address", "client", "java"),
    [
        ("127.0.0.1", "127.0.0.1:9092", "127.0.0.1", "127.0.0.1"),
        ("localhost", "localhost:9092", "localhost", "localhost"),
        ("::1", "[::1]:9092", "::1", "0:0:0:0:0:0:0:1"),
        ("fe80::1%eth0", "[fe80::1%eth0]:9092", "fe80::1%eth0", "fe80:0:0:0:0:0:0:1%eth0"),
        ("::ffff:10.0.0.7", "[::ffff:10.0.0.7]:9092", "10.0.0.7", "0:0:0:0:0:ffff:a00:7"),
    ],
)
def test_addresses(host: str, address: str, client: str, java: str) -> None:
    assert joined(host, 9092) == address
    assert parted(address) == (host, 9092)
    assert of_client(host) == client
    assert as_java_has_it(host) == java


def has_ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


@pytest.mark.skipif(not has_ipv6(), reason="needs an IPv6 loopback address")
def test_a_real_client_by_ipv6(tmp_path: Path) -> None:
    path = tmp_path / "wire.pcapng"
    with MockCluster(host="::1", topics={"t": 1}, capture=path, control=True) as cluster:
        servers = cluster.bootstrap_servers
        assert [each.startswith("[::1]:") for each in servers.split(",")] == [True] * 3
        assert (servers in str(cluster), cluster.listeners) == (True, servers)
        producer = Producer({"bootstrap.servers": servers, **QUIET})
        producer.produce("t", b"x")
        assert producer.flush(LIMIT_S) == 0
        consumer = Consumer(
            {"bootstrap.servers": servers, "group.id": "g", "auto.offset.reset": "earliest", **QUIET}
        )
        consumer.subscribe(["t"])
        message = consumer.poll(LIMIT_S)
        assert message is not None
        assert message.value() == b"x"
        [member] = cluster.group("g").members
        assert member.host == "/0:0:0:0:0:0:0:1"
        assert set(AdminClient({"bootstrap.servers": servers}).list_topics(timeout=LIMIT_S).brokers) == {
            1,
            2,
            3,
        }
        first = servers.split(",")[0]
        target = Target.connect(servers)
        with target.client(target.host, target.port) as client:
            asked = {"resource_type": 4, "resource_name": "1", "configuration_keys": ["advertised.listeners"]}
            [answer] = client.call("describe_configs", 1, {"resources": [asked]})["results"]
        assert [each["value"] for each in answer["configs"]] == [f"PLAINTEXT://{first}"]
        with pytest.raises(PortInUseError, match=r"can't listen on \[::1\]:\d+: "):
            MockCluster(host="::1", port=parted(first)[1], brokers=1).start()
        consumer.close()
    with path.open("rb") as file:
        assert "Produce" in {each.api for each in messages(read(file))}
    with path.open("rb") as file:
        assert {each.source[0] for each in read(file)} == {"::1"}


def test_an_ipv6_address_that_is_advertised_twice() -> None:
    with pytest.raises(OptionError, match=r"\[::1\]:9092 is advertised for two brokers"):
        addresses("[::1]:9092,[::1]:9092", 2)
