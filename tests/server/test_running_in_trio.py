"""The cluster of `serve` does in its own thread whatever a MockCluster does from another one."""

import pytest
import trio

import mockbroker
from mockbroker.trace.events import Broker


@pytest.mark.trio
async def test_calls_are_plain_and_take_effect_at_once() -> None:
    async with mockbroker.serve(topics={"orders": 1}, clock="manual") as cluster:
        fault = cluster.faults.add("watch", api="Produce")
        assert fault.hits == 0
        began = cluster.clock.now_ms
        cluster.clock.advance("1h")
        assert cluster.clock.now_ms == began + 3_600_000
        assert cluster.trace.events() == []
        leader = cluster.move_leader("orders", 0)
        cluster.stop_broker(leader)
        gone = [each for each in cluster.trace.events("broker") if isinstance(each, Broker)]
        assert [each.broker for each in gone] == [leader]
        cluster.policies.set("undefined-epoch", "log-end-offset")
        assert cluster.policies.answer("undefined-epoch") == "log-end-offset"
        assert {each.broker for each in cluster.replicas("orders", 0)} == {1, 2, 3}


@pytest.mark.trio
async def test_another_thread_is_told_to_call_in_that_of_trio() -> None:
    async with mockbroker.serve(brokers=1) as cluster:
        with pytest.raises(RuntimeError, match=r"trio\.from_thread\.run_sync"):
            await trio.to_thread.run_sync(cluster.stop_broker, 1)
        await trio.to_thread.run_sync(trio.from_thread.run_sync, cluster.stop_broker, 1)


@pytest.mark.trio
async def test_what_the_block_raises_comes_out_as_it_is() -> None:
    with pytest.raises(LookupError, match="of the test"):
        async with mockbroker.serve(brokers=1):
            raise LookupError("of the test")
    with trio.CancelScope() as scope:
        async with mockbroker.serve(brokers=1):
            scope.cancel()
            await trio.sleep_forever()
    assert scope.cancelled_caught


@pytest.mark.trio
async def test_what_fails_is_raised_at_the_end_or_noted_on_what_the_block_raises() -> None:
    def fail(_: object) -> None:
        raise ArithmeticError("on purpose")

    async def fail_in_a_cluster(error: Exception | None) -> None:
        async with mockbroker.serve(brokers=1, topics={"orders": 1}) as cluster:
            cluster.trace.listen(fail)
            cluster.produce("orders", "x", acks=1)
            assert len(cluster.failures) == 1
            if error is not None:
                raise error

    with pytest.raises(mockbroker.ClusterError, match="on purpose"):
        await fail_in_a_cluster(None)
    with pytest.raises(LookupError) as raised:
        await fail_in_a_cluster(LookupError("of the test"))
    [note] = raised.value.__notes__
    assert note.startswith("In the mock cluster: the cluster failed")
