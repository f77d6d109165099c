"""What a function that is called with a client's request does to the cluster."""

import threading

import pytest
import trio

import mockbroker
from mockbroker import MockCluster
from mockbroker.faults import ClientRequest
from mockbroker.rig.client import DisconnectedError

from .asking import client, heartbeat, let_lead, produce


def test_it_may_call_the_cluster() -> None:
    threads = set()

    def act(request: ClientRequest) -> None:
        threads.add(threading.current_thread().name)
        before = cluster.clock.now_ms
        cluster.clock.advance("1h")
        assert cluster.clock.now_ms >= before + 3_600_000
        assert cluster.trace.events("request")
        cluster.faults.add("error", api="Metadata", error="UNKNOWN_TOPIC_OR_PARTITION", times=1)
        cluster.policies.set("undefined-epoch", "log-end-offset")
        cluster.move_leader("orders", 0, to=2)
        cluster.stop_broker(3)
        cluster.create_topic("billed", partitions=1)
        cluster.produce("billed", "bill 1", acks=1)
        called.remove()
        request.error("NOT_LEADER_OR_FOLLOWER")

    with MockCluster(topics={"orders": 1}, trace=True) as cluster:
        let_lead(cluster, 1)
        called = cluster.on("Produce", act)
        with client(cluster) as asked, client(cluster, broker=3) as other:
            assert heartbeat(other)
            assert produce(asked) == "NOT_LEADER_OR_FOLLOWER"
            with pytest.raises(DisconnectedError):
                other.read_frame()
            assert [each["node_id"] for each in asked.call("metadata", 1)["brokers"]] == [1, 2]
            assert produce(asked) == "NOT_LEADER_OR_FOLLOWER"
        assert called.hits == 1
        assert [record.value for record in cluster.records("billed")] == [b"bill 1"]
    assert threads == {"mockbroker"}


def test_it_may_call_the_cluster_of_serve() -> None:
    async def main() -> None:
        async with mockbroker.serve(topics={"orders": 1}) as cluster:
            let_lead(cluster, 1)
            called = cluster.on("Produce", lambda _: cluster.stop_broker(3))
            with client(cluster) as asked, client(cluster, broker=3) as other:
                await trio.to_thread.run_sync(heartbeat, other)
                assert await trio.to_thread.run_sync(produce, asked) == "NONE"
                with pytest.raises(DisconnectedError):
                    await trio.to_thread.run_sync(other.read_frame)
            assert called.hits == 1

    trio.run(main)


def test_what_would_wait_for_the_cluster_itself_is_refused(cluster: MockCluster) -> None:
    refused: list[Exception] = []

    def wait(_: object) -> None:
        for each in (called.wait, lambda: cluster.trace.wait("answer"), cluster.stop):
            with pytest.raises(mockbroker.BlockingCallError, match="own thread") as raised:
                each()
            refused.append(raised.value)

    called = cluster.on("Heartbeat", wait)
    with client(cluster) as asked:
        heartbeat(asked)
    assert len(refused) == 3
