"""A session of Fetch of which the cluster has not seen a request, because a fault answered it."""

import subprocess
from typing import Any, Final

import pytest

from mockbroker import Fault, MockCluster, MockProxy
from mockbroker.rig.client import Client
from mockbroker.rig.waiting import wait_for

from .. import needs
from ..clients.console import tool
from ..driving.clients import raw_client

REFUSED: Final = "NOT_LEADER_OR_FOLLOWER"
GONE: Final = "FETCH_SESSION_ID_NOT_FOUND"


def fetch(client: Client, version: int, session: int, epoch: int) -> dict[str, Any]:
    partition = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1 << 20}
    fields = {"max_wait": 0, "min_bytes": 0, "session_id": session, "session_epoch": epoch}
    topics = [{"topic": "orders", "partitions": [partition]}]
    return dict(client.call("fetch", version, {**fields, "topics": topics}))


def errors(answer: dict[str, Any]) -> list[str]:
    return [each["error_code"] for topic in answer["responses"] for each in topic["partitions"]]


@pytest.mark.parametrize("version", [7, 11, 12])
def test_it_ends_for_both(version: int) -> None:
    with (
        MockCluster(brokers=1, topics={"orders": 1}) as cluster,
        MockProxy(cluster.bootstrap_servers) as proxy,
        raw_client(cluster) as direct,
        raw_client(proxy) as client,
    ):
        session = fetch(client, version, 0, 0)["session_id"]
        other = fetch(client, version, 0, 0)["session_id"]
        fault = proxy.add_fault("error", api="Fetch", error=REFUSED, times=1)
        refused = fetch(client, version, session, 1)
        assert (errors(refused), refused["session_id"], fault.hits) == ([REFUSED], 0, 1)
        again = fetch(client, version, 0, 0)
        assert (errors(again), again["error_code"]) == (["NONE"], "NONE")
        assert fetch(direct, version, session, 1)["error_code"] == GONE
        assert fetch(direct, version, other, 1)["error_code"] == "NONE"
        assert not proxy.lines


def test_it_goes_on_where_the_answer_is_changed_afterwards() -> None:
    with (
        MockCluster(brokers=1, topics={"orders": 1}) as cluster,
        MockProxy(cluster.bootstrap_servers) as proxy,
        raw_client(proxy) as client,
    ):
        session = fetch(client, 12, 0, 0)["session_id"]
        proxy.add_fault("error", api="Fetch", error=REFUSED, when="after", times=1)
        assert fetch(client, 12, session, 1)["session_id"] == session
        assert fetch(client, 12, session, 2)["error_code"] == "NONE"


@pytest.mark.needs(*needs.JAVA)
def test_a_java_consumer_begins_another_one() -> None:
    # Its second Fetch is the first one of a session, and names what it has read.
    fault: Fault = {"do": "error", "api": "Fetch", "error": REFUSED, "topic": "orders", "nth": 2}
    with (
        MockCluster(brokers=1, topics={"orders": 2}) as cluster,
        MockProxy(cluster.bootstrap_servers, trace=True, faults=[fault]) as proxy,
    ):
        cluster.produce("orders", "first", partition=0)
        command = tool(
            "org.apache.kafka.tools.consumer.ConsoleConsumer",
            *("--bootstrap-server", proxy.bootstrap_servers, "--topic", "orders"),
            *("--from-beginning", "--max-messages", "2", "--timeout-ms", "60000"),
        )
        piped: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
        with subprocess.Popen(command, **piped) as process:
            wait_for("the error", lambda: proxy.faults[0].hits == 1, 60)
            cluster.produce("orders", "second", partition=1)
            assert process.communicate()[0] == "first\nsecond\n"
        told: Any = proxy.trace.events("answer", api="Fetch")
        assert [error for each in told for error in each.errors] == [REFUSED]
