"""The clock and the trace over HTTP."""

from collections.abc import Iterator

import pytest
from confluent_kafka import Producer

from mockbroker import MockCluster

from .asking import ask


@pytest.fixture
def cluster() -> Iterator[MockCluster]:
    with MockCluster(control=True, topics={"orders": 1}, clock="manual") as started:
        yield started


def test_the_clock_is_advanced(cluster: MockCluster) -> None:
    before = ask("GET", cluster.control_url + "/clock")[1]["now_ms"]
    status, after = ask("POST", cluster.control_url + "/clock/advance", {"by": "1h30m"})
    assert (status, after["now_ms"] - before) == (200, 90 * 60_000)


def test_a_time_that_is_none_is_refused(cluster: MockCluster) -> None:
    status, told = ask("POST", cluster.control_url + "/clock/advance", {"by": "soon"})
    assert status == 400
    assert "7d" in told["error"]


def test_what_happened(cluster: MockCluster) -> None:
    assert ask("GET", cluster.control_url + "/trace") == (200, [])
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "client.id": "app"})
    producer.produce("orders", b"v")
    assert producer.flush(60) == 0
    status, found = ask("GET", cluster.control_url + "/trace?kind=answer&topic=orders&api=Produce")
    assert status == 200
    assert [(each["client_id"], each["names"], each["errors"]) for each in found] == [
        ("app", ["orders-0"], [])
    ]
    last = found[-1]["number"]
    assert all(each["number"] > last for each in ask("GET", f"{cluster.control_url}/trace?since={last}")[1])


def test_a_misspelt_kind_is_refused(cluster: MockCluster) -> None:
    status, told = ask("GET", cluster.control_url + "/trace?kind=leeder")
    assert status == 400
    assert "did you mean 'leader'" in told["error"]
