"""A fault that refuses some of what a request names leaves the rest of it to the cluster."""

from typing import Any

import pytest

from mockbroker import MockCluster, MockProxy
from mockbroker.rig.batches import batch

from ..driving.clients import raw_client

REFUSED, WRITTEN, UNKNOWN = "NOT_LEADER_OR_FOLLOWER", "NONE", "UNKNOWN_PRODUCER_ID"


@pytest.mark.parametrize(
    ("policies", "codes"),
    [({}, (REFUSED, WRITTEN)), ({"unknown-producer": "unknown-producer-id"}, (REFUSED, UNKNOWN))],
    ids=["passed on", "decided on"],
)
@pytest.mark.parametrize("version", [3, 9, 12])
def test_what_is_refused_is_not_passed_on(version: int, policies: Any, codes: tuple[str, str]) -> None:
    records = batch(1, producer_id=5, producer_epoch=0, sequence=7)
    topics = [
        {"name": name, "partition_data": [{"index": 0, "records": records}]} for name in ("orders", "others")
    ]
    fields = {"transactional_id": None, "acks": -1, "timeout": 10_000, "topic_data": topics}
    with (
        MockCluster(brokers=1, topics={"orders": 1, "others": 1}) as cluster,
        MockProxy(cluster.bootstrap_servers, policies=policies) as proxy,
        raw_client(proxy) as client,
    ):
        fault = proxy.add_fault("error", api="Produce", error=REFUSED, topic="orders")
        answer = client.call("produce", version, fields)
        told = {
            topic["name"]: each["error_code"]
            for topic in answer["responses"]
            for each in topic["partition_responses"]
        }
        assert (told["orders"], told["others"]) == codes
        assert len(cluster.records("orders")) == 0
        assert len(cluster.records("others")) == (codes[1] == WRITTEN)
        assert fault.hits == 1
        assert not proxy.lines
