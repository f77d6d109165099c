"""The control API of a proxy; a mock is the cluster behind it."""

import json
import signal
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from mockbroker import ConflictError, MockCluster, MockProxy
from mockbroker.control.client import ControlClient, OperationError
from mockbroker.control.table import find
from mockbroker.rig.client import DisconnectedError

from ..driving.clients import raw_client
from ..driving.processes import line_of, mockbroker_process, started


@pytest.fixture(scope="module")
def upstream() -> Iterator[str]:
    with MockCluster(brokers=1, topics={"orders": 1}) as cluster:
        yield cluster.bootstrap_servers


@pytest.fixture
def proxy(upstream: str) -> Iterator[MockProxy]:
    with MockProxy(upstream, control=True) as proxy:
        yield proxy


def do(proxy: MockProxy, name: str, /, **given: Any) -> Any:
    return ControlClient(proxy.control_url).do(find(name), given)


def asked(proxy: MockProxy) -> None:
    with raw_client(proxy, "asker") as client:
        client.call("metadata", 9, {"topics": []})


def test_faults_are_added_hit_and_removed(proxy: MockProxy) -> None:
    do(proxy, "faults add", do="disconnect", name="cut", api="Metadata")
    with pytest.raises(DisconnectedError):
        asked(proxy)
    (cut,) = do(proxy, "faults list")
    assert (cut["name"], cut["hits"]) == ("cut", 1)
    assert [each.hits for each in proxy.faults] == [1]
    do(proxy, "faults remove", name="cut")
    asked(proxy)
    assert do(proxy, "faults list") == []


def test_a_held_request_goes_on_when_it_is_released(proxy: MockProxy) -> None:
    do(proxy, "faults add", do="delay", ms=0, name="slow", api="Metadata")
    do(proxy, "faults pause", name="slow")
    with raw_client(proxy) as client:
        pending = client.send("metadata", 9, {"topics": []})
        assert do(proxy, "faults wait", name="slow")["held"] == 1
        do(proxy, "faults release", name="slow")
        assert client.receive(pending)["brokers"]


@pytest.mark.parametrize("name", ["faults add", "faults preview"])
def test_a_fault_that_only_a_mock_can_bring_about_is_refused(proxy: MockProxy, name: str) -> None:
    with pytest.raises(OperationError, match="stop-broker is done to the cluster itself"):
        do(proxy, name, do="stop-broker", api="Produce", target=1)
    with pytest.raises(OperationError, match="does not know the user"):
        do(proxy, name, do="delay", ms=1, user="alice")


def test_a_preview_shows_what_would_have_been_hit(proxy: MockProxy) -> None:
    do(proxy, "trace list")
    asked(proxy)
    found = do(proxy, "faults preview", do="disconnect", api="Metadata")
    (request,) = do(proxy, "trace list", kind="request")
    assert found["touched"] == [request["number"]]
    assert not proxy.faults


def test_the_trace_is_listed_and_streamed(proxy: MockProxy) -> None:
    do(proxy, "trace list")
    asked(proxy)
    (request,) = do(proxy, "trace list", kind="request")
    assert (request["api"], request["client_id"]) == ("Metadata", "asker")
    with urllib.request.urlopen(f"{proxy.control_url}/trace/stream?kind=answer&since=0", timeout=60) as lines:
        data = next(line for line in lines if line.startswith(b"data: "))
    assert json.loads(data.removeprefix(b"data: "))["api"] == "Metadata"


def test_only_what_a_proxy_has_is_there(proxy: MockProxy) -> None:
    with urllib.request.urlopen(f"{proxy.control_url}/openapi.json", timeout=60) as answer:
        paths = json.load(answer)["paths"]
    assert "/faults" in paths
    assert {path.split("/")[1] for path in paths} == {"faults", "trace"}
    with pytest.raises(OperationError, match="nothing at /brokers"):
        do(proxy, "brokers list")


def test_a_token_is_required_if_there_is_one(upstream: str) -> None:
    with MockProxy(upstream, control=True, control_token="secret") as proxy:
        with pytest.raises(OperationError, match="a control token is required"):
            do(proxy, "faults list")
        assert ControlClient(proxy.control_url, "secret").do(find("faults list"), {}) == []


def test_without_it_there_is_no_address(upstream: str) -> None:
    with MockProxy(upstream) as proxy, pytest.raises(ConflictError, match="make it with control=True"):
        _ = proxy.control_url


def test_ctl_controls_the_command(upstream: str) -> None:
    process = started("proxy", "--upstream", upstream, "--port", "0", "--control", "0")
    try:
        line_of(process)
        url = line_of(process)
        added = mockbroker_process(
            "ctl", "--url", url, "faults", "add", "disconnect", "api=Produce", "--name", "lost"
        )
        assert added.returncode == 0, added.stderr
    finally:
        process.send_signal(signal.SIGTERM)
        out, errors = process.communicate(timeout=60)
    assert "disconnect before api=Produce: never fired" in out
    assert (process.returncode, errors) == (3, "")
