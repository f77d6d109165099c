"""A record is appended as a producer's would be, and told of as it is in the log."""

import asyncio
import base64
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import trio
from aiokafka.partitioner import murmur2 as another_murmur2
from hypothesis import given, settings
from hypothesis import strategies as st

import mockbroker
from mockbroker import BlockingCallError, MockCluster, NotRunningError, ServedCluster
from mockbroker.contents.values import Record
from mockbroker.control.errors import RefusedError
from mockbroker.control.partitioner import murmur2
from mockbroker.errors import NotThereError

from ..control.asking import ask

CONTENT = st.one_of(st.none(), st.binary(max_size=20), st.text(max_size=8))


def encoded(content: bytes | str | None) -> bytes | None:
    return content.encode() if isinstance(content, str) else content


@pytest.fixture(scope="module")
def cluster() -> Iterator[MockCluster]:
    with MockCluster(control=True, topics={"orders": 3}) as running:
        yield running


@settings(max_examples=30)
@given(
    CONTENT,
    CONTENT,
    st.lists(st.tuples(st.text(max_size=5), CONTENT), max_size=3),
    st.one_of(st.none(), st.just(-1), st.integers(1_600_000_000_000, 1_600_000_001_000)),
    st.one_of(st.none(), st.integers(0, 2)),
)
def test_what_is_written_is_read(
    cluster: MockCluster,
    value: bytes | str | None,
    key: bytes | str | None,
    headers: list[tuple[str, bytes | str | None]],
    timestamp_ms: int | None,
    partition: int | None,
) -> None:
    written = cluster.produce(
        "orders", value, key=key, headers=headers, timestamp_ms=timestamp_ms, partition=partition
    )
    assert written == cluster.records("orders", written.partition, offset=written.offset)[0]
    assert (written.value, written.key) == (encoded(value), encoded(key))
    assert written.headers == tuple((name, encoded(content)) for name, content in headers)
    assert timestamp_ms in (None, written.timestamp_ms)
    assert partition in (None, written.partition)
    query = f"partition={written.partition}&offset={written.offset}"
    [told] = ask("GET", f"{cluster.control_url}/topics/orders/records?{query}")[1]
    assert decoded(told["value"], told["value_encoding"]) == written.value
    assert decoded(told["key"], told["key_encoding"]) == written.key
    assert [(each["key"], decoded(each["value"], each["encoding"])) for each in told["headers"]] == list(
        written.headers
    )


def decoded(text: str | None, encoding: str) -> bytes | None:
    if text is None:
        return None
    return base64.b64decode(text) if encoding == "base64" else text.encode()


@given(st.binary(max_size=40))
def test_keys_are_hashed_as_other_clients_hash_them(key: bytes) -> None:
    assert murmur2(key) == another_murmur2(key) & 0xFFFFFFFF


def test_without_a_key_it_is_the_first_partition_that_can_be_written() -> None:
    with MockCluster(brokers=2) as cluster:
        cluster.create_topic("orders", replica_assignment=[[1], [2]])
        assert cluster.produce("orders", "a").partition == 0
        cluster.stop_broker(1)
        assert cluster.produce("orders", "b").partition == 1
        with pytest.raises(RefusedError, match="LEADER_NOT_AVAILABLE: nothing was written to orders-0: "):
            cluster.produce("orders", "c", partition=0)
        assert [each.value for each in cluster.records("orders")] == [b"a", b"b"], "a dead leader's too"


def test_a_topic_is_created_by_use_or_not() -> None:
    with MockCluster(config={"num.partitions": "2"}) as cluster:
        cluster.produce("orders", "a")
        assert len(cluster.topic("orders").partitions) == 2
        with pytest.raises(RefusedError, match="INVALID_TOPIC_EXCEPTION: topic 'a b' was not created"):
            cluster.produce("a b", "x")
    with (
        MockCluster(topics={"orders": 1}, config={"auto.create.topics.enable": "false"}) as cluster,
        pytest.raises(
            NotThereError, match=r"'ordres': did you mean 'orders'\?.*auto\.create\.topics\.enable"
        ),
    ):
        cluster.produce("ordres", "a")
    with (
        MockCluster(brokers=1, config={"default.replication.factor": "3"}) as cluster,
        pytest.raises(RefusedError, match=r"INVALID_REPLICATION_FACTOR.*only 1 broker\(s\) are registered"),
    ):
        cluster.produce("orders", "a")


def test_a_refused_record_says_why_and_is_not_there() -> None:
    refused = {
        "latest": ("cleanup.policy", "compact", "INVALID_RECORD: .*cannot accept message without key"),
        "small": ("max.message.bytes", "100", "MESSAGE_TOO_LARGE"),
        "recent": ("message.timestamp.before.max.ms", "1000", "INVALID_TIMESTAMP: .*out of range"),
    }
    with MockCluster(brokers=2) as cluster:
        for topic, (name, value, why) in refused.items():
            cluster.create_topic(topic, config={name: value})
            with pytest.raises(RefusedError, match=why):
                cluster.produce(topic, "x" * 100, timestamp_ms=1_600_000_000_000)
            assert cluster.records(topic) == []
        cluster.create_topic("safe", replication_factor=2, config={"min.insync.replicas": "2"})
        cluster.stop_broker(2)
        why = r"NOT_ENOUGH_REPLICAS: .*the ISR is 1, and min\.insync\.replicas is 2"
        with pytest.raises(RefusedError, match=why):
            cluster.produce("safe", "x")
        assert cluster.records("safe") == []


def test_kafkas_own_topics_can_be_written_to() -> None:
    """A broker would refuse this of any client but its own tools."""
    with MockCluster() as cluster:
        cluster.move_coordinator(group="g")
        written = cluster.produce("__consumer_offsets", "x", key="k", partition=7)
        assert cluster.records("__consumer_offsets", partition=7) == [written]


def test_all_in_sync_replicas_have_it_or_the_error_says_who_has_not() -> None:
    with MockCluster(brokers=3, topics={"orders": 1}) as cluster:
        cluster.pause_follower("orders", 0, broker=3)
        with pytest.raises(RefusedError, match=r"REQUEST_TIMED_OUT: .*offset 0: .*broker 3 \(paused\)"):
            cluster.produce("orders", "a", timeout=0.05)
        assert cluster.produce("orders", "b", acks=1).offset == 1
        with ThreadPoolExecutor() as pool:
            waits = pool.submit(cluster.produce, "orders", "c", timeout=60)
            while len(cluster.records("orders")) < 3:
                assert not waits.done()
            cluster.resume_follower("orders", 0, broker=3)
            assert waits.result(60).offset == 2
        assert cluster.records("orders", broker=3) == cluster.records("orders")


def test_a_call_that_waits_hears_of_the_clusters_end() -> None:
    cluster = MockCluster(brokers=3, topics={"orders": 1}).start()
    cluster.pause_follower("orders", 0, broker=3)
    with ThreadPoolExecutor() as pool:
        waits = pool.submit(cluster.produce, "orders", "a", timeout=60)
        while not cluster.records("orders"):
            pass
        cluster.stop()
        with pytest.raises(NotRunningError, match="ended"):
            waits.result(60)


@pytest.mark.trio
async def test_it_is_the_same_call_in_trio() -> None:
    async with mockbroker.serve(topics={"orders": 1}) as cluster:
        written = cluster.produce("orders", "a", key="k")
        assert cluster.records("orders") == [written]
        with trio.fail_after(60):
            cluster.pause_follower("orders", 0, broker=3)
            with pytest.raises(BlockingCallError, match="would stop the cluster"):
                cluster.produce("orders", "b")
            assert cluster.produce("orders", "c", acks=1).offset == 2
            async with trio.open_nursery() as nursery:
                nursery.start_soon(resumed, cluster)
                assert (await cluster.produce_async("orders", "d", key=None)).value == b"d"
            assert await cluster.delete_records_async("orders", 0) == 4


async def resumed(cluster: ServedCluster) -> None:
    while len(cluster.records("orders")) < 4:
        await trio.lowlevel.checkpoint()
    cluster.resume_follower("orders", 0, broker=3)


def test_it_can_be_awaited_in_asyncio() -> None:
    async def main() -> None:
        async with MockCluster(topics={"orders": 1}) as cluster:
            cluster.pause_follower("orders", 0, broker=3)
            waits = asyncio.create_task(cluster.produce_async("orders", "a", timeout=60))
            while not cluster.records("orders"):
                await asyncio.sleep(0)
            cluster.resume_follower("orders", 0, broker=3)
            assert (await waits).offset == 0
            assert await cluster.delete_records_async("orders", 0, before=1) == 1

    asyncio.run(main())


def test_arguments_that_can_not_be_are_refused(cluster: MockCluster) -> None:
    with pytest.raises(ValueError, match="acks is 2"):
        cluster.produce("orders", "x", acks=2)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="timestamp_ms is"):
        cluster.produce("orders", "x", timestamp_ms=1 << 70)
    with pytest.raises(TypeError, match="the value is 7: give bytes, text or None"):
        cluster.produce("orders", 7)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="isolation_level is 'read_comitted'"):
        cluster.records("orders", isolation_level="read_comitted")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="offset is -1"):
        cluster.records("orders", offset=-1)
    with pytest.raises(NotThereError, match="no partition orders-3: choose 0 to 2"):
        cluster.produce("orders", "x", partition=3)


def test_records_are_deleted_below_an_offset() -> None:
    with MockCluster(topics={"orders": 1}) as cluster:
        for number in range(5):
            cluster.produce("orders", str(number))
        assert cluster.delete_records("orders", 0, before=2) == 2
        assert [each.offset for each in cluster.records("orders")] == [2, 3, 4]
        with pytest.raises(RefusedError, match="OFFSET_OUT_OF_RANGE: nothing was deleted of orders-0"):
            cluster.delete_records("orders", 0, before=6)
        assert cluster.delete_records("orders", 0) == 5
        assert cluster.records("orders") == []
        assert cluster.topic("orders").partitions[0].log_start_offset == 5


def test_a_record_knows_its_place() -> None:
    with MockCluster(topics={"orders": 1}, seed=1) as cluster:
        first = cluster.produce("orders", None)
        cluster.move_leader("orders", 0)
        second = cluster.produce("orders", None)
        assert (first.leader_epoch, second.leader_epoch) == (0, 1)
        assert second == Record(
            "orders", 0, 1, None, None, (), second.timestamp_ms, "CreateTime", leader_epoch=1
        )
        cluster.create_topic("stamped", config={"message.timestamp.type": "LogAppendTime"})
        stamped = cluster.produce("stamped", "x", timestamp_ms=1)
        assert stamped.timestamp_type == "LogAppendTime"
        assert stamped.timestamp_ms >= second.timestamp_ms
