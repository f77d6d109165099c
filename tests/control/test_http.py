"""The control API over HTTP, with a real client at the brokers."""

import http.client
import os
import re
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from confluent_kafka.admin import AdminClient
from hypercorn.config import Config

from mockbroker import MockCluster
from mockbroker.cluster.cluster import Cluster
from mockbroker.control.table import OPERATIONS
from mockbroker.faults.actions import ACTIONS
from mockbroker.server.listening import PortInUseError

from ..driving.real_clients import a_producer
from ..driving.until import until
from .asking import ask

Asking = Callable[..., tuple[int, Any]]
PARTITION = "/topics/orders/partitions/0"


@pytest.fixture
def cluster() -> Iterator[MockCluster]:
    config = {"default.replication.factor": "3"}
    with MockCluster(control=True, topics={"orders": 2}, config=config) as started:
        yield started


@pytest.fixture
def asking(cluster: MockCluster) -> Asking:
    return lambda method, path, *rest: ask(method, cluster.control_url + path, *rest)


def produce(cluster: MockCluster, **config: object) -> None:
    producer = a_producer(cluster, **{"retry.backoff.ms": 10, **config})
    producer.produce("orders", b"x", partition=0)
    assert producer.flush(60) == 0


def test_faults_can_have_a_target(asking: Asking) -> None:
    values = {"target": 2, "delay_ms": 10}
    kinds = {do: {each.name for each in fields(action)} for do, action in ACTIONS.items()}
    kinds = {do: names for do, names in kinds.items() if "target" in names}
    assert "stop-broker" in kinds
    for do, names in kinds.items():
        given = {name: value for name, value in values.items() if name in names}
        assert asking("POST", "/faults", {"do": do, **given})[0] == 200, do
    assert len(asking("GET", "/faults")[1]) == len(kinds)


def test_a_fault_strikes_a_real_client_once(cluster: MockCluster, asking: Asking) -> None:
    condition = {"api": "Produce", "topic": "orders", "when": "after", "times": 1}
    lost = {"name": "lost", "do": "disconnect", **condition}
    assert asking("POST", "/faults", lost)[0] == 200
    produce(cluster)
    status, fault = asking("GET", "/faults/lost/wait?hits=1")
    assert (status, fault["hits"], fault["over"]) == (200, 1, True)
    # The client wrote twice: the first answer was lost, and it is not idempotent.
    replicas = asking("GET", f"{PARTITION}/replicas")[1]
    assert [replica["log_end_offset"] for replica in replicas] == [2, 2, 2]
    assert asking("DELETE", "/faults/lost") == (200, fault)
    assert asking("GET", "/faults") == (200, [])


def test_a_stopped_broker_is_gone_for_a_real_client_until_it_starts(
    cluster: MockCluster, asking: Asking
) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    assert asking("POST", "/brokers/1/stop")[1]["state"] == "stopped"
    assert set(admin.list_topics(timeout=60).brokers) == {2, 3}
    assert asking("GET", PARTITION)[1]["leader"] == 2
    produce(cluster)
    asking("POST", "/brokers/1/start")
    assert set(admin.list_topics(timeout=60).brokers) == {1, 2, 3}


def test_others_are_answered_while_one_waits(cluster: MockCluster, asking: Asking) -> None:
    asking("POST", "/faults", {"name": "gate", "do": "hold", "api": "Produce"})
    with ThreadPoolExecutor() as pool:
        waits: Future[tuple[int, Any]] = pool.submit(asking, "GET", "/faults/gate/wait")
        produces = pool.submit(produce, cluster)
        assert waits.result(60)[1]["hits"] == 1
        assert asking("GET", "/faults/gate")[1]["held"] == 1
        more = pool.submit(asking, "GET", "/faults/gate/wait?hits=2")
        assert asking("POST", "/faults/gate/release")[1]["held"] == 0
        produces.result(60)
        asking("DELETE", "/faults/gate")
        status, answer = more.result(60)
    assert status in (404, 409), "removed before or while it was waited for"
    assert "gate" in answer["error"]


def test_a_wait_has_an_end(asking: Asking) -> None:
    asking("POST", "/faults", {"name": "never", "do": "silence", "api": "Produce"})
    status, answer = asking("GET", "/faults/never/wait?timeout=0.01")
    assert (status, answer["error"]) == (
        409,
        "fault 'never' touched 0 requests, not 1, within 0.01 s: no client sent anything",
    )


def test_leaders_and_followers_are_told_what_to_do(asking: Asking) -> None:
    asking("POST", f"{PARTITION}/followers/3/pause")
    moved = asking("POST", f"{PARTITION}/move-leader", {"to": 2})[1]
    assert (moved["leader"], moved["leader_epoch"]) == (2, 1)
    states = {each["broker"]: each["state"] for each in asking("GET", f"{PARTITION}/replicas")[1]}
    assert (states[2], states[3]) == ("leader", "paused")
    asking("POST", f"{PARTITION}/followers/3/resume")
    asking("POST", f"{PARTITION}/followers/1/slow", {"delay_ms": 60_000})
    assert asking("POST", f"{PARTITION}/followers/3/fail")[1][2]["failure"] == "failed by the test"
    cut = asking("POST", "/brokers/2/cut-off", {"from": [1, "controller"]})[1]
    assert (cut["cut_off"], cut["unreachable"]) == (True, [1])
    assert asking("POST", "/brokers/2/rejoin")[1]["unreachable"] == []


@pytest.mark.parametrize("owner", ["/groups/a%2Fb", "/transactions/t"])
def test_a_coordinator_moves(asking: Asking, owner: str) -> None:
    first = asking("POST", f"{owner}/move-coordinator")[1]["leader"]
    second = asking("POST", f"{owner}/move-coordinator")[1]["leader"]
    assert first != second
    assert asking("POST", f"{owner}/move-coordinator?to={first}")[1]["leader"] == first


def test_policies_change_where_it_is_said(cluster: MockCluster, asking: Asking) -> None:
    path = "/policies/undefined-epoch"
    assert asking("PUT", f"{path}?topic=orders", {"answer": "log-end-offset"})[0] == 200
    assert asking("GET", f"{path}?topic=orders")[1]["answer"] == "log-end-offset"
    everywhere = asking("GET", path)[1]
    assert everywhere["answer"] == "undefined"
    assert everywhere["overrides"] == [{"topic": "orders", "broker": None, "answer": "log-end-offset"}]
    assert everywhere in asking("GET", "/policies")[1]
    assert cluster.policies.answer("undefined-epoch", topic="orders", broker=2) == "log-end-offset"
    asking("DELETE", f"{path}?topic=orders")
    assert asking("GET", f"{path}?topic=orders")[1]["answer"] == "undefined"


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "error"),
    [
        ("POST", "/brokers/9/stop", None, 404, "no broker 9: choose one of 1, 2, 3"),
        ("POST", "/brokers/one/stop", None, 400, "broker is 'one': give a number"),
        (
            "POST",
            "/brokers/1/stop",
            {"now": 1},
            400,
            "brokers stop has no argument 'now': choose one of broker",
        ),
        ("POST", "/broker/1/stop", None, 404, "did you mean '/brokers/1/stop'"),
        ("GET", "/brokers/1/stop", None, 405, "does not take GET: use POST"),
        ("GET", "/topics/ordres/partitions/0", None, 404, "did you mean 'orders'"),
        ("GET", "/topics/orders/partitions/2", None, 404, "choose 0 to 1"),
        ("POST", f"{PARTITION}/move-leader", {"to": 1}, 409, "broker 1 leads, the ISR is [1, 2, 3]"),
        ("POST", f"{PARTITION}/followers/1/pause", None, 404, "broker 1 is no follower of orders-0"),
        ("POST", f"{PARTITION}/followers/2/slow", None, 400, "needs delay_ms"),
        ("POST", f"{PARTITION}/followers/2/slow", {"delay_ms": True}, 400, "give a number"),
        ("POST", f"{PARTITION}/followers/2/slow", {"delay_ms": -1}, 400, "number of milliseconds"),
        ("GET", "/policies/undefined-epochs", None, 404, "did you mean 'undefined-epoch'"),
        ("PUT", "/policies/undefined-epoch", {"answer": "x"}, 400, "choose one of log-end-offset, undefined"),
        ("PUT", "/policies/undefined-epoch", {}, 400, "needs answer"),
        ("DELETE", "/policies/undefined-epoch?broker=4", None, 400, "choose one of 1, 2, 3"),
        ("POST", "/faults", {"do": "disconect"}, 400, "did you mean 'disconnect'"),
        ("POST", "/faults", {"do": "delay"}, 400, "needs 'ms'"),
        ("POST", "/faults", {"do": "hold", "topc": "t"}, 400, "did you mean 'topic'"),
        ("POST", "/faults", ["hold"], 400, "not a JSON object"),
        ("GET", "/faults/lost", None, 404, "no fault named 'lost'"),
        ("POST", "/brokers/1/cut-off", {"from": ["controler"]}, 404, "name ids, or 'controller'"),
    ],
)
def test_an_error_says_what_would_be_right(
    asking: Asking, method: str, path: str, body: object, status: int, error: str
) -> None:
    found, answer = asking(method, path, body)
    assert found == status
    assert error in answer["error"]
    assert asking("GET", "/faults") == (200, [])


def test_a_defect_is_told_and_ends_nothing(cluster: MockCluster, asking: Asking) -> None:
    def spoil(core: Cluster) -> None:
        core.topics["spoilt"] = object()  # type: ignore[assignment]

    cluster.run(spoil)
    status, answer = asking("GET", "/topics/spoilt/partitions/0")
    assert (status, "AttributeError" in answer["error"]) == (500, True)
    assert asking("GET", PARTITION)[0] == 200


def test_a_name_is_given_once(asking: Asking) -> None:
    fault = {"name": "lost", "do": "silence"}
    asking("POST", "/faults", fault)
    assert asking("POST", "/faults", fault)[0] == 409
    assert asking("POST", "/faults", {"do": "silence"})[1]["name"] == "1"
    assert [each["name"] for each in asking("DELETE", "/faults")[1]] == ["lost", "1"]


def test_faults_added_in_python_are_there_too(cluster: MockCluster, asking: Asking) -> None:
    with cluster.faults.add("delay", ms=1, api="Produce"):
        [fault] = asking("GET", "/faults")[1]
        assert fault["fault"] == "delay before api=Produce"
    assert asking("GET", "/faults")[1] == []


@pytest.mark.parametrize(
    "headers", [{"Host": "broker.example"}, {"Host": "127.0.0.1.example:80"}, {"Origin": "http://a.example"}]
)
def test_web_pages_are_refused(asking: Asking, headers: dict[str, str]) -> None:
    assert asking("POST", "/brokers/1/stop", None, headers)[0] == 403
    assert asking("GET", "/brokers")[1][0]["state"] == "running"


def test_looking_at_a_cluster_decides_nothing(asking: Asking) -> None:
    asking("GET", "/trace/last")
    assert asking("GET", "/cluster")[1]["controller"] is None
    assert asking("GET", "/trace?kind=decision") == (200, [])


def test_the_document_has_every_operation(asking: Asking) -> None:
    status, document = asking("GET", "/openapi.json")
    assert (status, document["openapi"]) == (200, "3.1.0")
    described = {(path, method) for path, each in document["paths"].items() for method in each}
    operations = {(each.path, each.method.lower()) for each in OPERATIONS.values()}
    lent = {("/clusters", "post"), ("/clusters", "get"), ("/clusters/{id}", "delete")}
    assert described == operations | lent | {("/trace/stream", "get"), ("/metrics", "get")}
    for path, methods in document["paths"].items():
        for told in methods.values():
            in_path = {each["name"] for each in told["parameters"] if each["in"] == "path"}
            assert in_path == set(re.findall(r"{(\w+)}", path))
            assert told["summary"]
            [content] = told["responses"]["200"]["content"].values()
            assert content["schema"]


def test_the_document_says_how_requests_are_refused(asking: Asking) -> None:
    document = asking("GET", "/openapi.json")[1]
    [(name, scheme)] = document["components"]["securitySchemes"].items()
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
    assert document["security"] == [{}, {name: []}]
    for path, methods in document["paths"].items():
        for method, told in methods.items():
            statuses = set(told["responses"])
            assert "401" in statuses
            lent = path.startswith("/clusters") and method != "post"
            assert ("400" in statuses) == (path != "/metrics" and not lent)
            assert ({"408", "413"} <= statuses) == (method in ("post", "put"))
            assert ("503" in statuses) == (
                (path, method) in (("/trace/stream", "get"), ("/clusters", "post"))
            )


def test_a_wait_does_not_keep_a_cluster_from_its_end() -> None:
    with ThreadPoolExecutor() as pool, MockCluster(control=True) as cluster:
        url = cluster.control_url
        ask("POST", f"{url}/faults", {"name": "never", "do": "hold"})
        with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), timeout=60) as waiting:
            waiting.sendall(b"GET /faults/never/wait?timeout=3600 HTTP/1.1\r\nHost: localhost\r\n\r\n")
            ended = pool.submit(waiting.recv, 4096)
            # Answered after the wait began: connections are accepted in order.
            ask("GET", f"{url}/faults")
            cluster.stop()
            assert not ended.result(60)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts open files")
def test_connections_end_once_their_clients_have_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Config, "keep_alive_timeout", 3600)
    with MockCluster(control=True, brokers=1) as cluster:
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(100):
            with closing(http.client.HTTPConnection(urlsplit(cluster.control_url).netloc)) as connection:
                connection.request("GET", "/topics")
                assert connection.getresponse().read() == b"[]"
        until(lambda: len(os.listdir("/proc/self/fd")) <= before, "the end of all connections")


def test_a_port_in_use_is_one_clear_error() -> None:
    with MockCluster(control=True) as cluster:
        port = int(cluster.control_url.rpartition(":")[2])
        with pytest.raises(PortInUseError, match="Choose another port"):
            MockCluster(control=port).start()


def test_a_cluster_has_no_control_api_unless_asked() -> None:
    with MockCluster() as cluster, pytest.raises(RuntimeError, match="control=True"):
        _ = cluster.control_url
