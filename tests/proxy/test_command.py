"""`mockbroker proxy`."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer

from mockbroker import MockCluster

from ..cli.in_process import mockbroker
from ..driving.processes import line_of, started

LOST = "disconnect api=Produce when=after times=1"


@pytest.fixture(scope="module")
def upstream() -> Iterator[str]:
    with MockCluster(brokers=1, topics={"orders": 1}) as cluster:
        yield cluster.bootstrap_servers


@pytest.mark.parametrize(
    ("sends", "status", "told"),
    [(True, 0, "1 hit"), (False, 3, "never fired, no client sent anything")],
    ids=["fires", "never fires"],
)
def test_it_tells_what_fired(upstream: str, sends: bool, status: int, told: str) -> None:
    process = started("proxy", "--upstream", upstream, "--port", "0", "--fault", LOST)
    try:
        servers = line_of(process)
        if sends:
            producer = Producer({"bootstrap.servers": servers})
            producer.produce("orders", "order")
            assert producer.flush(60) == 0
    finally:
        process.send_signal(signal.SIGTERM)
        out, errors = process.communicate(timeout=60)
    assert out.splitlines()[-1] == f"disconnect after api=Produce times=1: {told}"
    assert (process.returncode, errors) == (status, "")


def test_it_names_the_files_for_clients(upstream: str, tmp_path: Path) -> None:
    process = started("proxy", "--upstream", upstream, "--port", "0", "--tls", "--tls-folder", str(tmp_path))
    try:
        servers = line_of(process)
        assert line_of(process) == f"certificate authority: {tmp_path / 'ca.pem'}"
        settings = {"security.protocol": "SSL", "ssl.ca.location": str(tmp_path / "ca.pem")}
        producer = Producer({"bootstrap.servers": servers, **settings})
        producer.produce("orders", "order")
        assert producer.flush(60) == 0
    finally:
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (["--fault", "stop-broker api=Produce target=1"], "stop-broker is done to the cluster itself"),
        (["--fault", "dissconnect"], "no fault 'dissconnect'"),
        (["--upstream-map", "a:1"], "--upstream-map 'a:1': write it as HOST:PORT=HOST:PORT"),
        (["--policy", "election=unclean"], "election is decided in the cluster itself"),
        (["--kafka", "5.0"], "no Kafka release '5.0'"),
        (["--upstream-ca", "nowhere.pem"], "upstream_ca can't be used: "),
        (["--client-auth", "required"], "client_auth and certificate are for TLS: add tls=True"),
        (["--upstream", "nowhere"], "--upstream 'nowhere': write it as HOST:PORT"),
        (["--upstream", "127.0.0.1:1"], "no broker told which brokers there are: 127.0.0.1:1: "),
    ],
    ids=lambda value: value[-1] if isinstance(value, list) else "",
)
def test_it_says_what_is_wrong(upstream: str, given: list[str], why: str) -> None:
    done = mockbroker("proxy", "--upstream", upstream, "--port", "0", *given)
    assert done.exit_code == 2
    assert done.stderr.startswith(f"mockbroker proxy: {why}"), done.stderr
    assert not done.stdout
