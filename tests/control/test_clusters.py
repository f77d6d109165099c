"""Clusters that are lent, by HTTP."""

import gc
import http.client
import json
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest
from confluent_kafka import Producer

from mockbroker import MockCluster
from mockbroker.cluster.cluster import Cluster
from mockbroker.control import clusters
from mockbroker.control.client import ControlClient
from mockbroker.control.table import find

from ..driving import wire
from .asking import ask

Lease = tuple[dict[str, Any], http.client.HTTPResponse]


@pytest.fixture
def url() -> Iterator[str]:
    with MockCluster(control=True, brokers=1) as cluster:
        yield cluster.control_url


@contextmanager
def lent(url: str, body: object = None, headers: dict[str, str] | None = None) -> Iterator[Lease]:
    """Where it is, by the first line of the answer, and the rest of it, while the connection is open."""
    with closing(http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)) as connection:
        connection.request("POST", "/clusters", json.dumps(body or {}), headers or {})
        with connection.getresponse() as answer:
            first = json.loads(answer.readline())
            assert first.pop("event") == "serving"
            yield first, answer


def connected(where: dict[str, Any]) -> socket.socket:
    host, port = where["bootstrap_servers"].split(",")[0].rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout=60)


def sent_to(where: dict[str, Any]) -> str | None:
    """The error that a producer gets for a record."""
    errors: list[str | None] = []
    producer = Producer({"bootstrap.servers": where["bootstrap_servers"], "log_level": 0})
    producer.produce(
        "orders", "1", on_delivery=lambda error, _: errors.append(error.name() if error else None)
    )
    assert producer.flush(60) == 0
    return errors[0]


def test_a_cluster_is_gone_once_the_connection_that_asked_for_it_closes(url: str) -> None:
    with lent(url) as (where, _):
        sock = connected(where)
        sock.sendall(wire.api_versions())
        assert sock.recv(4096)
        assert where in ask("GET", f"{url}/clusters")[1]
    with sock:
        assert sock.recv(4096) == b""
    status, answer = ask("GET", f"{where['control_url']}/cluster")
    assert status == 404
    assert "gone once the connection that asked for it has closed" in answer["error"]


def test_a_cluster_is_deleted_without_touching_another(url: str) -> None:
    with lent(url) as (one, answer), lent(url) as (other, _):
        assert ask("DELETE", one["control_url"]) == (200, one)
        assert answer.read() == b""
        with pytest.raises(ConnectionRefusedError):
            connected(one)
        assert ask("GET", f"{url}/clusters") == (200, [other])
        assert ask("DELETE", one["control_url"])[0] == 404
        connected(other).close()


def test_what_is_done_to_one_is_not_done_to_another(url: str) -> None:
    with lent(url, {"topics": {"orders": 1}}) as (one, _), lent(url, {"topics": {"orders": 1}}) as (other, _):
        fault = {"name": "lost", "do": "error", "api": "Produce", "error": "MESSAGE_TOO_LARGE"}
        assert ask("POST", f"{one['control_url']}/faults", fault)[0] == 200
        assert ask("POST", f"{one['control_url']}/brokers/3/stop")[0] == 200
        assert [sent_to(each) for each in (one, other)] == ["MSG_SIZE_TOO_LARGE", None]
        assert ask("GET", f"{other['control_url']}/faults") == (200, [])
        assert ask("GET", f"{url}/faults") == (200, [])
        states = [ask("GET", f"{each['control_url']}/brokers")[1][2]["state"] for each in (one, other)]
        assert states == ["stopped", "running"]


def test_it_is_started_with_what_the_body_says(url: str) -> None:
    body = {
        "kafka": "2.3",
        "brokers": 2,
        "topics": {"orders": 6},
        "config": {"num.partitions": "4"},
        "policies": {"undefined-epoch": "log-end-offset"},
        "faults": [{"name": "late", "do": "delay", "ms": 1}],
        "racks": {"2": "b"},
        "seed": 7,
        "clock": "manual",
        "now": "2026-03-01T12:30:00Z",
    }
    with lent(url, body) as (where, _), lent(url, body) as (again, _):
        assert (where["kafka"], where["brokers"]) == ("2.3", 2)
        assert where["cluster_id"] == again["cluster_id"]
        own = where["control_url"]
        assert [each["partitions"] for each in ask("GET", f"{own}/topics")[1]] == [6]
        assert ask("GET", f"{own}/clock")[1]["now_ms"] == 1_772_368_200_000
        assert [each["name"] for each in ask("GET", f"{own}/faults")[1]] == ["late"]
        assert [each["rack"] for each in ask("GET", f"{own}/brokers")[1]] == [None, "b"]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"kafak": "2.3"}, "no argument 'kafak': did you mean 'kafka'?"),
        ({"kafka": "9"}, "no Kafka release '9'"),
        ({"brokers": 0}, "a cluster has at least one"),
        ({"brokers": "3"}, "give a number"),
        ({"brokers": clusters.MOST_BROKERS + 1}, "100 at most"),
        ({"topics": {"a": 0}}, "give a number, 1 or more"),
        ({"topics": {"a": clusters.MOST_PARTITIONS, "b": 1}}, "1001 partitions"),
        ({"racks": {"x": "a"}}, "give the id of one, a number"),
        ({"faults": [{"do": "disconect"}]}, "did you mean 'disconnect'?"),
        ({"config": {"num.partitions": 3}}, "give text"),
        ({"trace": "all"}, "give true or false or requests"),
        ({"capture": "file"}, "no argument 'capture'"),
        ({"security": {"tsl": True}}, "did you mean 'tls'?"),
        ([], "the body is not a JSON object"),
    ],
)
def test_a_wrong_body_is_answered_with_what_to_do(url: str, body: object, says: str) -> None:
    before = ask("GET", f"{url}/clusters")
    status, answer = ask("POST", f"{url}/clusters", body)
    assert status == 400
    assert says in answer["error"]
    assert ask("GET", f"{url}/clusters") == before


def test_whoever_holds_it_is_told_of_troubles(url: str) -> None:
    with lent(url) as (where, answer), connected(where) as sock:
        sock.sendall(b"\x7f\xff\xff\xff")
        told = json.loads(answer.readline())
        assert (told["event"], told["broker"]) == ("refused", 1)
        assert "is what a broker takes" in told["reason"]


def test_only_so_many_lines_tell_of_troubles(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "MOST_LINES", 1)
    with lent(url) as (where, answer):
        for _ in range(3):
            with connected(where) as sock:
                sock.sendall(b"\x7f\xff\xff\xff")
                assert sock.recv(1) == b""
        assert ask("DELETE", where["control_url"])[0] == 200
        assert answer.read().count(b"\n") == 1


def test_a_line_comes_now_and_then_where_nothing_happens(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "_EVERY_S", 0.01)
    with lent(url) as (_, answer):
        assert [json.loads(answer.readline()) for _ in range(2)] == [{"event": "alive"}] * 2


def test_the_command_line_takes_its_address(url: str) -> None:
    with lent(url, {"topics": {"orders": 1}}) as (where, _):
        [topic] = ControlClient(where["control_url"]).do(find("topics list"), {})
        assert topic["name"] == "orders"


def test_its_trace_keeps_bodies_or_not(url: str) -> None:
    bodies = []
    for trace in (True, "requests"):
        with lent(url, {"topics": {"orders": 1}, "trace": trace}) as (where, _):
            assert sent_to(where) is None
            rows = ask("GET", f"{where['control_url']}/trace?kind=request&api=Produce")[1]
            bodies.append([bool(each["body"]) for each in rows])
    assert bodies == [[True], [False]]


def test_nothing_is_left_of_those_that_are_gone(url: str) -> None:
    def there() -> int:
        gc.collect()
        return sum(isinstance(each, Cluster) for each in gc.get_objects())

    counts = []
    for _ in range(6):
        with lent(url, {"topics": {"orders": 1}, "trace": True}) as (where, _):
            assert sent_to(where) is None
            ask("DELETE", where["control_url"])
        counts.append(there())
    # The last one may still be in a variable.
    assert counts[-1] <= counts[0] + 1


def test_one_that_is_lent_lends_none(url: str) -> None:
    with lent(url) as (where, _):
        assert ask("POST", f"{where['control_url']}/clusters")[0] == 404


def test_there_are_only_so_many(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "MOST", 1)
    with lent(url):
        status, answer = ask("POST", f"{url}/clusters")
        assert (status, answer["error"][:27]) == (503, "1 clusters are lent already")


def test_a_token_is_needed_for_all_of_them() -> None:
    with MockCluster(control=True, control_token="secret", brokers=1) as cluster:
        sent = {"Authorization": "Bearer secret"}
        assert ask("POST", f"{cluster.control_url}/clusters")[0] == 401
        with lent(cluster.control_url, headers=sent) as (where, _):
            assert ask("GET", f"{where['control_url']}/topics")[0] == 401
            assert ask("GET", f"{where['control_url']}/topics", headers=sent) == (200, [])


def test_they_end_with_the_process_that_lends_them() -> None:
    with MockCluster(control=True, brokers=1) as cluster, lent(cluster.control_url) as (where, answer):
        with connected(where) as sock:
            cluster.stop()
            assert sock.recv(4096) == b""
        assert not answer.readline()
