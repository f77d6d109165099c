"""What a control API is asked that nobody should ask: each gets an answer, and service goes on."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import socket
from collections.abc import Iterator, MutableMapping
from contextlib import ExitStack
from dataclasses import fields
from typing import Any
from urllib.parse import quote, urlencode

import pytest
import trio
import trio.testing
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from mockbroker import MockCluster
from mockbroker.cluster.cluster import Cluster
from mockbroker.control import serving
from mockbroker.control.bodies import MOST_BYTES
from mockbroker.control.client import ControlClient, OperationError
from mockbroker.control.http import app
from mockbroker.control.openapi import document
from mockbroker.control.stream import MOST_STREAMS
from mockbroker.control.table import OPERATIONS, find
from mockbroker.control.target import Target
from mockbroker.faults import Faults
from mockbroker.faults.actions import ACTIONS
from mockbroker.faults.match import Match
from mockbroker.repeats import PRINTED
from mockbroker.trace import Trace
from mockbroker.trace.recorder import KEPT_WITH_DETAILS

from ..driving.cluster import a_cluster
from ..properties import examples
from .asking import ask


@pytest.fixture(scope="module")
def cluster() -> Iterator[MockCluster]:
    with MockCluster(control=True, topics={"orders": 2}) as started:
        yield started


def post(cluster: MockCluster, path: str, body: bytes, **headers: str) -> tuple[int, dict[str, Any]]:
    connection = http.client.HTTPConnection(cluster.control_url.removeprefix("http://"), timeout=30)
    with contextlib.closing(connection):
        connection.request("POST", path, body, headers)
        answer = connection.getresponse()
        return answer.status, json.load(answer)


BODIES = {
    "deep": (b'{"do": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", 400, "nested too deeply"),
    "half a pair": (b'{"do": "disconnect", "name": "\\ud800"}', 400, "surrogate"),
    "half a pair as a name": (b'{"do": "disconnect", "\\udc00": 1}', 400, "surrogate"),
    "no number": (b'{"do": "delay", "ms": NaN}', 400, "NaN"),
    "5,000 digits": (b'{"do": "delay", "ms": ' + b"9" * 5_000 + b"}", 400, "digits"),
    "large": (b'{"do": "' + b"x" * MOST_BYTES + b'"}', 413, "more than 1048576 bytes"),
    "not UTF-8": (b'{"do": "\xff\xfe"}', 400, "JSON"),
    "a list": (b"[]", 400, "object"),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_body_that_can_not_be(cluster: MockCluster, name: str) -> None:
    body, status, reason = BODIES[name]
    found, answer = post(cluster, "/faults", body)
    assert (found, reason in answer["error"]) == (status, True), answer
    assert ask("GET", cluster.control_url + "/faults") == (200, [])


@pytest.mark.parametrize("by", ["9999999d", "99999999999999999999999d", "9223372036854775807ms"])
def test_the_clock_has_an_end(cluster: MockCluster, by: str) -> None:
    status, answer = ask("POST", cluster.control_url + "/clock/advance", {"by": by})
    assert (status, "9999-12-31" in answer["error"]) == (400, True)
    with pytest.raises(ValueError, match="9999-12-31"):
        cluster.clock.advance(by)


# -- any request at all

TEXT = st.text(max_size=20)
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)


FAULT_FIELDS = sorted(
    {each.name for kind in [*ACTIONS.values()] for each in fields(kind)}
    | {each.name for each in fields(Match)}
    | {"when", "optional"}
)


def parameter(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Mostly what the document asks for, sometimes anything."""
    kinds = {
        "integer": st.integers(-1, 4) | st.integers(),
        "number": st.sampled_from([0.0, -1.0, 0.01]),
        "string": st.sampled_from(["orders", "1", "disconnect", "1s", "election", "g"]) | TEXT,
        "boolean": st.booleans(),
    }
    return kinds.get(schema.get("type", ""), VALUE) | VALUE


@st.composite
def requests(draw: st.DrawFn) -> tuple[str, str, bytes | None]:
    """Method, path and body of a request to one of the operations."""
    paths = document(OPERATIONS.values())["paths"]
    del paths["/trace/stream"]  # goes on for ever
    del paths["/metrics"]  # is not JSON
    path = draw(st.sampled_from(sorted(paths)))
    method = draw(st.sampled_from(sorted(paths[path])))
    about, body = paths[path][method], None
    query = {}
    for each in about["parameters"]:
        value = draw(parameter(each["schema"]))
        text = value if isinstance(value, str) else json.dumps(value)
        if each["in"] == "path":
            path = path.replace("{" + each["name"] + "}", quote(text, safe="") or "x")
        elif draw(st.booleans()):
            query[each["name"]] = text
    if "timeout" in {each["name"] for each in about["parameters"]}:
        query["timeout"] = "0"
    if "requestBody" in about:
        schema = about["requestBody"]["content"]["application/json"]["schema"]
        said = {
            name: draw(parameter(each)) for name, each in schema["properties"].items() if draw(st.booleans())
        }
        if path == "/faults":
            said = draw(st.dictionaries(st.sampled_from(FAULT_FIELDS), VALUE, max_size=3)) | said
        body = json.dumps(draw(st.just(said) | VALUE)).encode()
    return method.upper(), path + ("?" + urlencode(query) if query else ""), body


@given(request=requests())
@example(request=("POST", "/clusters", b"{}"))
@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_asked_is_done_or_refused(
    cluster: MockCluster, request: tuple[str, str, bytes | None]
) -> None:
    method, path, body = request
    connection = http.client.HTTPConnection(cluster.control_url.removeprefix("http://"), timeout=30)
    with contextlib.closing(connection):
        connection.request(method, path, body)
        answer = connection.getresponse()
        # The first line is all of it, but for `POST /clusters`: its answer ends when the cluster does.
        status, found = answer.status, json.loads(answer.readline())
    assert status in (200, 400, 404, 409), (status, found)
    if status != 200:
        assert found["error"]
    assert cluster.failures == []


# -- who may ask


@pytest.mark.parametrize(
    ("site", "status"), [("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)]
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_pages_of_other_sites_are_refused(cluster: MockCluster, method: str, site: str, status: int) -> None:
    path = "/brokers" if method == "GET" else "/groups/g/move-coordinator"
    assert ask(method, cluster.control_url + path, None, {"Sec-Fetch-Site": site})[0] == status


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LocalHost:9999", "[::1]", "[::1]:80"])
def test_names_of_this_machine_are_its_own(cluster: MockCluster, host: str) -> None:
    assert ask("GET", f"{cluster.control_url}/brokers", None, {"Host": host})[0] == 200


@pytest.mark.parametrize("host", ["localhost.example", "example:80", "127.0.0.1.example", "::1", "", "0"])
def test_other_names_are_refused(cluster: MockCluster, host: str) -> None:
    assert ask("GET", f"{cluster.control_url}/brokers", None, {"Host": host})[0] == 403


TOKEN = "s3cret"


def test_a_token_is_asked_for() -> None:
    with MockCluster(control=True, control_token=TOKEN) as cluster:
        for path in ("/cluster", "/openapi.json", "/trace/stream", "/metrics", "/nothing"):
            for given_ in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Bearer {TOKEN}x"}):
                status, answer = ask("GET", cluster.control_url + path, None, given_)
                assert (status, "control token" in answer["error"]) == (401, True)
        assert (
            ask("GET", cluster.control_url + "/cluster", None, {"Authorization": f"Bearer {TOKEN}"})[0] == 200
        )
        assert ControlClient(cluster.control_url, TOKEN).do(find("brokers list"), {})
        with pytest.raises(OperationError, match="MOCKBROKER_CONTROL_TOKEN"):
            ControlClient(cluster.control_url).do(find("brokers list"), {})


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"control_token": TOKEN}, "no control API"),
        ({"control": True, "control_token": ""}, "without spaces"),
        ({"control": True, "control_token": "a b"}, "without spaces"),
        ({"control": True, "control_token": "é"}, "without spaces"),
    ],
)
def test_a_token_that_can_not_be(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        MockCluster(**options).start()


# -- who reads slowly


@pytest.fixture
def of_its_own() -> Iterator[MockCluster]:
    """A reader that is gone counts until the server notices."""
    with MockCluster(control=True) as started:
        yield started


def stream(cluster: MockCluster, since: int = -1) -> http.client.HTTPConnection:
    connection = http.client.HTTPConnection(cluster.control_url.removeprefix("http://"), timeout=30)
    connection.request("GET", f"/trace/stream?since={since}")
    return connection


def test_a_reader_that_comes_too_late_is_told_what_it_missed(of_its_own: MockCluster) -> None:
    cluster = of_its_own
    cluster.trace  # noqa: B018 - begins it
    ask("PUT", cluster.control_url + "/policies/election", {"answer": "clean"})
    count = KEPT_WITH_DETAILS + 7
    first = cluster.run_with_trace(lambda trace: trace.events[-1].number)

    def many(trace: Trace) -> None:
        for _ in range(count):
            trace.policy("election", "clean", None, None)

    cluster.run_with_trace(many)
    with contextlib.closing(stream(cluster, since=first)) as connection:
        answer = connection.getresponse()
        assert answer.readline() == b": the trace\n"
        answer.readline()
        assert answer.readline() == b"event: missed\n"
        missed = json.loads(answer.readline().removeprefix(b"data: "))
        kept = cluster.run_with_trace(lambda trace: trace.events[0].number)
        assert missed == {"from": first + 1, "to": kept - 1}
        answer.readline()
        assert answer.readline() == f"id: {kept}\n".encode()


def test_there_are_only_so_many_readers(of_its_own: MockCluster) -> None:
    cluster = of_its_own
    with contextlib.ExitStack() as stack:
        for _ in range(MOST_STREAMS):
            reader = stack.enter_context(contextlib.closing(stream(cluster)))
            assert reader.getresponse().readline() == b": the trace\n"
        status, answer = ask("GET", cluster.control_url + "/trace/stream")
        assert (status, str(MOST_STREAMS) in answer["error"]) == (503, True)
        assert ask("GET", cluster.control_url + "/cluster")[0] == 200


# -- who sends slowly, too much, or goes away


def test_a_large_body_is_refused_by_an_answer_and_not_by_a_reset(cluster: MockCluster) -> None:
    body = b'{"do": "' + b"x" * 20 * MOST_BYTES + b'"}'
    for path, expected in (("/faults", 413), ("/nothing", 404), ("/cluster", 405)):
        assert post(cluster, path, body)[0] == expected
    assert post(cluster, "/faults", body, Host="broker.example")[0] == 403


async def endless(message: dict[str, Any]) -> dict[str, Any]:
    await trio.sleep(1)
    return message


@pytest.mark.parametrize("part", [b"", b" "])
def test_a_body_that_comes_slowly_comes_to_an_end(part: bytes) -> None:
    cluster = a_cluster()
    target = Target(cluster, Faults(cluster), Trace(cluster), "", lambda: None, lambda _: None, lambda: None)
    sent: list[dict[str, Any]] = []

    async def main() -> None:
        async def receive() -> dict[str, Any]:
            return await endless({"type": "http.request", "body": part, "more_body": True})

        async def send(message: MutableMapping[str, Any]) -> None:
            sent.append(dict(message))

        scope = {
            "type": "http",
            "method": "POST",
            "path": "/faults",
            "raw_path": b"/faults",
            "query_string": b"",
            "headers": [(b"host", b"localhost")],
        }
        await app(target)(scope, receive, send)

    trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))
    assert (sent[0]["status"], b"did not come within" in sent[1]["body"]) == (408, True)


def test_clients_that_go_away_leave_no_traceback(capfd: pytest.CaptureFixture[str]) -> None:
    with MockCluster(control=True) as cluster:
        address = "127.0.0.1", int(cluster.control_url.rpartition(":")[2])
        for _ in range(5):
            with socket.create_connection(address, timeout=60) as client:
                client.sendall(b"POST /faults HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
                client.shutdown(socket.SHUT_WR)
                while client.recv(4096):
                    pass
    assert capfd.readouterr().err == ""


def test_tracebacks_that_are_alike_are_counted(capfd: pytest.CaptureFixture[str]) -> None:
    def spoil(core: Cluster) -> None:
        core.topics["spoilt"] = object()  # type: ignore[assignment]

    with MockCluster(control=True) as cluster:
        cluster.run(spoil)
        for _ in range(10):
            assert ask("GET", cluster.control_url + "/topics/spoilt/partitions/0")[0] == 500
    errors = capfd.readouterr().err
    assert errors.count("Error in ASGI Framework") == PRINTED
    assert re.search(r"\([67] like it in ", errors.splitlines()[-1]), "the last may be told after its answer"


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="needs TCP_USER_TIMEOUT (Linux)")
def test_a_client_that_reads_nothing_does_not_keep_a_cluster_from_ending(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(serving, "UNREAD_S", 1)
    request = b"GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with ExitStack() as stack, MockCluster(brokers=1, control=True) as cluster:
        host, _, port = cluster.control_url.removeprefix("http://").rpartition(":")
        sock = stack.enter_context(socket.socket())
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.connect((host, int(port)))
        sock.sendall(request * 200)
        # The first bytes say that answers are being sent.
        assert sock.recv(1, socket.MSG_PEEK)
