"""The clock and the trace over HTTP."""

import contextlib
import http.client
import json
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

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
    told = ask("GET", f"{cluster.control_url}/trace/last")[1]
    assert any(" orders-0: high watermark " in each for each in told)
    assert ask("GET", f"{cluster.control_url}/trace/last?most=2") == (200, told[-2:])
    assert ask("GET", f"{cluster.control_url}/trace/last?most=0") == (200, [])


def test_a_misspelt_kind_is_refused(cluster: MockCluster) -> None:
    status, told = ask("GET", cluster.control_url + "/trace?kind=leeder")
    assert status == 400
    assert "did you mean 'leader'" in told["error"]


def lines(url: str, count: int) -> list[str]:
    """The first lines of a stream."""
    with urllib.request.urlopen(url, timeout=60) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        return [answer.readline().decode().rstrip() for _ in range(count)]


def test_events_as_they_come(cluster: MockCluster) -> None:
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(lines, cluster.control_url + "/trace/stream?kind=leader&since=0", 5)
        while not coming.done():
            cluster.run(lambda core: core.create_topic(f"later-{len(core.topics)}", [[1]]))
        first, _, number, kind, data = coming.result()
    assert first == ": the trace"
    assert (number.partition(": ")[0], kind) == ("id", "event: leader")
    assert json.loads(data.removeprefix("data: "))["topic"].startswith("later")


def test_a_stream_ends_with_the_cluster(cluster: MockCluster) -> None:
    with urllib.request.urlopen(cluster.control_url + "/trace/stream", timeout=60) as answer:
        assert answer.readline() == b": the trace\n"
        cluster.stop()
        with contextlib.suppress(http.client.HTTPException, OSError):
            answer.read()


def test_a_stream_of_nothing_is_refused(cluster: MockCluster) -> None:
    for query in ("kind=leeder", "since=now", "topik=t"):
        assert ask("GET", f"{cluster.control_url}/trace/stream?{query}")[0] == 400
