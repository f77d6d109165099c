"""Real clients through the proxy; a mock is the cluster behind it."""

import asyncio
import gc
from collections.abc import Iterator

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from mockbroker import MockCluster, MockProxy, UpstreamError
from mockbroker.faults import FaultError
from mockbroker.rig.waiting import wait_for


@pytest.fixture
def cluster() -> Iterator[MockCluster]:
    with MockCluster(topics={"orders": 6}) as cluster:
        yield cluster


@pytest.fixture
def proxy(cluster: MockCluster) -> Iterator[MockProxy]:
    with MockProxy(cluster.bootstrap_servers) as proxy:
        yield proxy


def sent(servers: str, count: int, **settings: object) -> list[str | None]:
    """What became of so many records: the names of errors, or None."""
    producer = Producer({"bootstrap.servers": servers, **settings})
    told: list[str | None] = []
    for index in range(count):
        producer.produce(
            "orders",
            f"order {index}",
            on_delivery=lambda error, _: told.append(error.name() if error else None),
        )
    assert producer.flush(60) == 0
    return told


async def read(servers: str, count: int) -> list[str]:
    """So many values, which a group reads and commits."""
    consumer = AIOKafkaConsumer(
        "orders", bootstrap_servers=servers, group_id="readers", auto_offset_reset="earliest"
    )
    async with consumer:
        found = [(await consumer.getone()).value.decode() for _ in range(count)]
        await consumer.commit()
    return found


async def transfer(servers: str, count: int) -> None:
    """A transaction of so many records."""
    producer = AIOKafkaProducer(bootstrap_servers=servers, transactional_id="transfers")
    async with producer, producer.transaction():
        for index in range(count):
            await producer.send("orders", f"order {index}".encode())


def test_a_group_reads_what_a_producer_sent(proxy: MockProxy) -> None:
    assert sent(proxy.bootstrap_servers, 20) == [None] * 20
    assert sorted(asyncio.run(read(proxy.bootstrap_servers, 20))) == sorted(f"order {i}" for i in range(20))


def test_a_transaction_is_read(proxy: MockProxy) -> None:
    asyncio.run(transfer(proxy.bootstrap_servers, 5))
    assert len(asyncio.run(read(proxy.bootstrap_servers, 5))) == 5


def test_clients_are_told_listeners_of_the_proxy(cluster: MockCluster, proxy: MockProxy) -> None:
    servers = proxy.bootstrap_servers
    told = AdminClient({"bootstrap.servers": servers}).list_topics(timeout=60).brokers.values()
    assert sorted(f"{each.host}:{each.port}" for each in told) == sorted(servers.split(","))
    assert not set(servers.split(",")) & set(cluster.bootstrap_servers.split(","))


def test_records_that_nobody_acknowledges_arrive(proxy: MockProxy) -> None:
    assert sent(proxy.bootstrap_servers, 20, acks=0) == [None] * 20
    assert len(asyncio.run(read(proxy.bootstrap_servers, 20))) == 20


def test_a_lost_answer_is_sent_again_and_written_once(cluster: MockCluster, proxy: MockProxy) -> None:
    lost = proxy.add_fault("disconnect", api="Produce", when="after", times=1)
    assert sent(proxy.bootstrap_servers, 20, **{"enable.idempotence": True}) == [None] * 20
    assert lost.hits == 1
    assert len(cluster.records("orders")) == 20


def test_an_error_comes_instead_of_the_work(cluster: MockCluster, proxy: MockProxy) -> None:
    refused = proxy.add_fault("error", api="Produce", error="INVALID_REQUIRED_ACKS", topic="orders")
    told = sent(proxy.bootstrap_servers, 5, acks=1)
    assert set(told) == {"INVALID_REQUIRED_ACKS"}
    assert refused.hits
    assert not cluster.records("orders")


def test_a_removed_fault_does_nothing(proxy: MockProxy) -> None:
    fault = proxy.add_fault("error", api="Produce", error="INVALID_REQUIRED_ACKS")
    proxy.remove_fault(fault)
    assert sent(proxy.bootstrap_servers, 5) == [None] * 5
    assert not fault.hits


def test_a_fault_that_only_a_mock_can_bring_about_is_refused(proxy: MockProxy) -> None:
    with pytest.raises(FaultError, match=r"stop-broker is done to the cluster itself.*disconnect"):
        proxy.add_fault("stop-broker", api="Produce", target=1)


@pytest.mark.parametrize(
    "given", [{"listener": "PLAINTEXT"}, {"user": "alice"}, {"broker": 7}, {"apu": "Produce"}], ids=str
)
def test_a_condition_that_a_proxy_can_not_check_is_refused(
    proxy: MockProxy, given: dict[str, object]
) -> None:
    with pytest.raises(FaultError, match=next(iter(given))):
        proxy.add_fault("delay", ms=1, **given)


def test_without_a_cluster_there_is_no_proxy() -> None:
    with MockCluster() as cluster:
        gone = cluster.bootstrap_servers
    with (
        pytest.raises(UpstreamError, match="no broker told which brokers there are: 127"),
        MockProxy(gone),
    ):
        pytest.fail("it started")


@pytest.mark.trio
async def test_it_is_asked_within_a_trio_program(cluster: MockCluster) -> None:
    with MockProxy(cluster.bootstrap_servers) as proxy:
        fault = proxy.add_fault("delay", ms=1, api="Metadata")
        assert proxy.faults == [fault]
        assert proxy.client_settings("kafkajs")["brokers"]
        with pytest.raises(FaultError, match="did you mean 'delay'"):
            proxy.add_fault("dely", ms=1)


def test_clients_come_back_after_a_broker_was_restarted(cluster: MockCluster, proxy: MockProxy) -> None:
    assert sent(proxy.bootstrap_servers, 5) == [None] * 5
    cluster.stop_broker(1)
    assert sent(proxy.bootstrap_servers, 5) == [None] * 5
    cluster.start_broker(1)
    assert sent(proxy.bootstrap_servers, 5) == [None] * 5


def test_clients_come_back_after_the_proxy_was_gone() -> None:
    with MockCluster(brokers=1, topics={"orders": 1}) as cluster:
        with MockProxy(cluster.bootstrap_servers) as proxy:
            servers = proxy.bootstrap_servers
            producer = Producer({"bootstrap.servers": servers})
            producer.produce("orders", "before")
            assert producer.flush(60) == 0
        producer.produce("orders", "while it is gone")
        with MockProxy(cluster.bootstrap_servers, port=int(servers.rpartition(":")[2])):
            assert producer.flush(60) == 0
        assert [each.value for each in cluster.records("orders")] == [b"before", b"while it is gone"]


def test_a_broker_that_comes_later_gets_a_listener(cluster: MockCluster) -> None:
    cluster.stop_broker(3)
    with MockProxy(cluster.bootstrap_servers) as proxy:
        before = listed(proxy)
        cluster.start_broker(3)
        cluster.create_topic("late", replica_assignment=[[3]])
        assert (sorted(before), sorted(listed(proxy))) == ([1, 2], [1, 2, 3])
        assert listed(proxy)[3] not in cluster.bootstrap_servers
        producer = Producer({"bootstrap.servers": proxy.bootstrap_servers})
        producer.produce("late", "order")
        assert producer.flush(60) == 0
        assert len(cluster.records("late")) == 1
        assert not proxy.lines


def listed(proxy: MockProxy) -> dict[int, str]:
    """Where clients are told that brokers are."""
    found = AdminClient({"bootstrap.servers": proxy.bootstrap_servers}).list_topics(timeout=60).brokers
    return {each.id: f"{each.host}:{each.port}" for each in found.values()}


def test_a_cluster_that_is_slow_is_waited_for(cluster: MockCluster, proxy: MockProxy) -> None:
    slow = cluster.faults.add("delay", ms=500, api="Produce")
    assert sent(proxy.bootstrap_servers, 3) == [None] * 3
    assert slow.hits
    assert not proxy.lines


def test_what_a_proxy_keeps_does_not_grow_from_day_to_day(cluster: MockCluster, proxy: MockProxy) -> None:
    assert sent(proxy.bootstrap_servers, 3) == [None] * 3
    first = kept()
    for day in range(2, 9):
        cluster.clock.advance("1d")
        assert sent(proxy.bootstrap_servers, 3) == [None] * 3
        # Connections of clients that are gone are closed a little later.
        wait_for(f"as few objects on day {day} as on the first", lambda: kept() <= first)


def kept() -> int:
    """How many objects of proxies there are in this process."""
    gc.collect()
    return sum(str(kind.__module__).startswith("mockbroker.proxying") for kind in map(type, gc.get_objects()))


def test_a_broker_is_reached_where_the_map_says() -> None:
    told = "broker-1.invalid:9092"
    with (
        MockCluster(topics={"orders": 1}, brokers=1, advertise=told) as cluster,
        MockProxy(cluster.listeners, upstream_map={told: cluster.listeners}) as proxy,
    ):
        assert sent(proxy.bootstrap_servers, 5) == [None] * 5
        assert not proxy.lines


def test_a_broker_that_can_not_be_reached_is_told_once() -> None:
    with (
        MockCluster(topics={"orders": 1}, brokers=1, advertise="broker-1.invalid:9092") as cluster,
        MockProxy(cluster.listeners) as proxy,
    ):
        producer = Producer({"bootstrap.servers": proxy.bootstrap_servers, "message.timeout.ms": 2000})
        told: list[str] = []
        producer.produce(
            "orders", "order", on_delivery=lambda error, _: told.append(str(error and error.name()))
        )
        assert producer.flush(60) == 0
        assert told == ["_MSG_TIMED_OUT"]
        (line,) = proxy.lines
        assert line.startswith("broker 1 can't be reached at broker-1.invalid:9092: ")
