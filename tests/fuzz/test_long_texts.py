"""Answers whose text is longer than their version can say are UNKNOWN_SERVER_ERROR, or none at all."""

import random
import struct
from collections.abc import Iterator

import pytest

from mockbroker import MockCluster
from mockbroker.conformance.fuzz.modes import Maker, framed
from mockbroker.conformance.fuzz.playing import NOW_MS, play
from mockbroker.conformance.fuzz.requests import schema, write
from mockbroker.conformance.fuzz.steps import Do, Send, Session, Step
from mockbroker.conformance.fuzz.values import Drawn, Known
from mockbroker.rig.client import Client, DisconnectedError, decode

QUICKLY = {"group.initial.rebalance.delay.ms": "10"}
LONGEST = b"x" * 32767
LONGER_ONCE_READ = b"\xff" * 32767


class Long(Drawn):
    def __init__(self, content: bytes) -> None:
        super().__init__(random.Random(1), Known(), NOW_MS)
        self._content = content

    def text(self, entity: str, name: str) -> bytes:
        return self._content


@pytest.mark.parametrize(
    ("content", "how"),
    [(LONGEST, "plain"), (LONGER_ONCE_READ, "plain"), (LONGER_ONCE_READ, "traced"), (LONGEST, "delayed")],
    ids=["longest", "longer once read", "traced", "delayed"],
)
def test_no_api_fails_at_long_texts(content: bytes, how: str) -> None:
    maker, values = Maker("schemas", 1, Known(), NOW_MS), Long(content)
    maker.kafka = "3.9"
    steps: list[Step] = (
        [Do("faults add", {"do": "delay", "ms": 10, "client_id": "fuzz"})] if how == "delayed" else []
    )
    for number, (api, key, version) in enumerate(maker.apis):
        entity = schema(api, version, "request")
        if entity.__flexible__:
            continue
        values.begin(0.0)
        frame = framed(maker.header(key, version, False, odd=0.3), write(entity, values).data)
        steps.append(Send(number, 1, frame * 2))
    assert len(steps) > 100
    session = Session("none", 0, maker.kafka, how == "traced", steps)
    assert play(session) is None


@pytest.fixture(params=[False, True], ids=["plain", "traced"])
def cluster(request: pytest.FixtureRequest) -> Iterator[MockCluster]:
    with MockCluster(brokers=2, topics={"t": 1}, config=QUICKLY, trace=request.param) as started:
        yield started


def connect(cluster: MockCluster, client_id: str | None = "test") -> Client:
    host, _, port = cluster.bootstrap_servers.partition(",")[0].partition(":")
    return Client(host, int(port), client_id)


@pytest.mark.parametrize("client_id", [None, "", "odd \x1b[31m"])
def test_the_requests_behind_are_answered(cluster: MockCluster, client_id: str | None) -> None:
    topic = {"name": LONGEST.decode(), "num_partitions": 1, "replication_factor": 1}
    with connect(cluster, client_id) as client:
        pending = client.send("create_topics", 2, {"topics": [topic], "timeout": 5000})
        behind = client.send("metadata", 1, {"topics": [{"name": "t"}]})
        [created] = client.receive(pending)["topics"]
        assert (created["error_code"], created["error_message"]) == ("UNKNOWN_SERVER_ERROR", None)
        assert created["name"] == topic["name"]
        assert client.receive(behind)["topics"][0]["error_code"] == "NONE"


def test_one_that_waited(cluster: MockCluster) -> None:
    with connect(cluster) as client, connect(cluster, None) as other:
        if other.call("find_coordinator", 1, {"key": "g"})["node_id"] != 1:
            cluster.move_coordinator(group="g", to=1)
        head = b"\0\1g" + struct.pack(">ii", 10_000, 10_000) + b"\0\0\0\x08consumer\0\0\0\1"
        body = head + struct.pack(">h", len(LONGER_ONCE_READ)) + LONGER_ONCE_READ + bytes(4)
        answer = decode("join_group", 3, client.raw(11, 3, body))
        assert answer["error_code"] == "UNKNOWN_SERVER_ERROR"
        assert client.call("metadata", 1, {"topics": [{"name": "t"}]})["topics"][0]["error_code"] == "NONE"
        assert other.call("describe_groups", 0, {"groups": ["g"]})["groups"][0]["error_code"] == "NONE"


def test_a_fault_that_gives_a_field_such_a_text_is_told(cluster: MockCluster) -> None:
    cluster.faults.add("replace", api="Metadata", field="cluster_id", value="x" * 40_000)
    with connect(cluster) as client, pytest.raises(DisconnectedError):
        client.call("metadata", 4, {"topics": []})
    [failure] = cluster.failures
    assert "40000 bytes" in str(failure)
    cluster.failures.clear()
