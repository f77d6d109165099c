"""Incidents of producers that are refused, or held up: records that are too large, too few replicas in sync,
a quota, a transaction that takes too long, answers that are lost."""

import os
import re
from collections.abc import Sequence
from typing import Any, Final

import trio

from .clients import Producer
from .stage import IncidentStage, StoryError, story

_PACE_S: Final = 2.0
_IN_VAIN_S: Final = 35
_HELD_UP_S: Final = 60
GIVES_UP: Final = {"delivery_timeout_ms": 10_000, "request_timeout_ms": 5_000}
_LARGE: Final = os.urandom(5_000)
"""Clients that compress what they send don't get it any smaller."""
_TIMEOUT_MS: Final = 6_000


async def in_vain(
    stage: IncidentStage, producers: Sequence[Producer], symptom: str, *, value: bytes | None = None
) -> None:
    """Each in turn writes to `orders`-0 for half a minute, and is refused; in a twin for a moment, and is
    not."""
    for producer in producers:
        with trio.move_on_after(_IN_VAIN_S if stage.caused else _PACE_S):
            while True:
                await producer.send("orders", 0, 2, value=value)
                await trio.sleep(_PACE_S / 2)
        if bool(producer.failed) != stage.caused:
            raise StoryError(f"{producer.handle}: {producer.failed}")
        if stage.caused:
            stage.refused(producer)
            stage.noticed(symptom, topic="orders", partition=0)
        await producer.close()


@story("record-too-large", brokers=1, libraries=("kafkajs", "franz-go", "sarama"), twin={})
async def record_too_large(stage: IncidentStage) -> None:
    """A producer's records are larger than max.message.bytes of the topic allows: they are refused whenever
    it tries, while others go on."""
    await stage.create("orders", 3, max_message_bytes="2000" if stage.caused else "1048588")
    await stage.clients.member("kafkajs", "billing", ["orders"])
    for partition, library in enumerate(("kafkajs", "franz-go", "sarama")):
        producer = await stage.clients.producer(library)
        await producer.send("orders", partition, 20)
        if producer.failed:
            raise StoryError(f"{library} was refused: {producer.failed[0]}")
        for _ in range(4):
            await producer.send("orders", partition, 1, value=_LARGE)
            await trio.sleep(_PACE_S if stage.caused else 0)
        if bool(producer.failed) != stage.caused:
            raise StoryError(f"{library}: {producer.failed}")
        if stage.caused:
            stage.did(
                "records were refused",
                topic="orders",
                partition=partition,
                client=producer.handle,
                count=len(producer.failed),
                error=producer.failed[0],
            )
            stage.noticed("producer-refused", topic="orders", partition=partition)
        await producer.close()
        other = await stage.clients.producer(library)
        await other.send("orders", partition, 10)
    await stage.caught_up("orders", groups=["billing"])


@story(
    "too-few-in-sync",
    brokers=2,
    libraries=("sarama", "kafkajs"),
    twin={"min.insync.replicas": "1"},
    config={"min.insync.replicas": "2", "offsets.topic.min.isr": "1"},
)
async def too_few_in_sync(stage: IncidentStage) -> None:
    """A broker is down, so that fewer replicas are in sync than min.insync.replicas asks for: producers with
    acks=all are refused until it is back."""
    libraries = ("sarama", "kafkajs")
    await stage.create("orders", replicas=[1, 2])
    await stage.clients.member("sarama", "billing", ["orders"])
    producers = {each: await stage.clients.producer(each) for each in libraries}
    for each in producers.values():
        await each.send("orders", 0, 50)
    await stage.stop(2)
    await stage.until("an ISR of broker 1", lambda: stage.admin.state("orders").in_sync == (1,))
    with trio.move_on_after(45 if stage.caused else 10):
        while True:
            for each in producers.values():
                await each.send("orders", 0, 2)
            await trio.sleep(_PACE_S)
    if stage.caused:
        for each in producers.values():
            if not each.failed:
                raise StoryError(f"{each.handle} was not refused")
            stage.refused(each)
        stage.noticed("producers-refused", topic="orders", partition=0)
    await stage.start(2)
    await stage.until("an ISR of both", lambda: stage.admin.state("orders").in_sync == (1, 2))
    for each in producers.values():
        failed = len(each.failed)
        await each.send("orders", 0, 20)
        if len(each.failed) > failed:
            raise StoryError(f"{each.handle} is still refused: {each.failed[-1]}")
    await stage.caught_up("orders", groups=["billing"])


@story("producer-throttled", brokers=1, libraries=("confluent-kafka", "kafka-go"), twin={})
async def producer_throttled(stage: IncidentStage) -> None:
    """A quota holds a producer up for longer than it keeps records: these time out."""
    await stage.create("orders")
    await stage.clients.member("kafka-go", "billing", ["orders"])
    producer = await stage.clients.producer("confluent-kafka", delivery_timeout_ms=_TIMEOUT_MS)
    await producer.send("orders", 0, 20)
    if stage.caused:
        await stage.do(stage.admin.limit_producers, producer.handle, 200)
        stage.did("a quota was set", client=producer.handle, bytes_a_second=200)
    with trio.move_on_after(_HELD_UP_S if stage.caused else _PACE_S):
        while True:
            await producer.send("orders", 0, 1, value=_LARGE)
    if bool(producer.failed) != stage.caused:
        raise StoryError(f"it was held up, or was not: {producer.failed}")
    if stage.caused:
        told = {"client": producer.handle, "error": producer.failed[0]}
        stage.did("records timed out", **told, count=len(producer.failed))
        stage.noticed("records-timed-out", client=producer.handle)
    await stage.caught_up("orders", groups=["billing"])


@story(
    "producer-fenced",
    config={"transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000"},
    brokers=1,
    libraries=("aiokafka", "sarama", "kafkajs"),
    twin={},
)
async def transaction_timed_out(stage: IncidentStage) -> None:
    """A transaction takes longer than its producer's transaction.timeout.ms: the coordinator aborts it, and
    refuses the producer when it goes on."""
    libraries = ("aiokafka", "sarama", "kafkajs")
    await stage.create("orders", len(libraries))
    await stage.clients.member("aiokafka", "billing", ["orders"], isolation_level="read_committed")
    for partition, library in enumerate(libraries):
        id_, limit = f"payments-{library}", 5_000 if stage.caused else 60_000
        producer = await stage.clients.producer(library, transactional_id=id_, transaction_timeout_ms=limit)
        await transaction(producer, partition)
        await producer.do("begin")
        await producer.send("orders", partition, 20)
        if stage.caused:
            await stage.until("its end", lambda partition=partition: _aborted(stage) > partition)  # type: ignore[misc]
            stage.did(
                "a transaction was aborted after its timeout",
                topic="orders",
                partition=partition,
                transactional_id=id_,
                timeout_ms=limit,
            )
        await producer.send("orders", partition, 5)
        done = await producer.do("commit-transaction")
        told = [*producer.failed, *([str(done.error)] if done.error else [])]
        if bool(told) != stage.caused:
            raise StoryError(f"{library}: {told}")
        if stage.caused:
            stage.did("a producer was fenced", transactional_id=id_, client=producer.handle, error=told[0])
            stage.noticed("producer-refused", transactional_id=id_)
        await producer.close()
        again = await stage.clients.producer(library, transactional_id=id_)
        await transaction(again, partition)
        await again.close()
    await stage.until(
        "a group that has read all",
        lambda: all(
            stage.clients.at["billing"].get(("orders", each), 0)
            >= stage.admin.offset("orders", each, committed=True) - 1
            for each in range(len(libraries))
        ),
    )


async def transaction(producer: Producer, partition: int) -> None:
    await producer.do("begin")
    await producer.send("orders", partition, 20)
    done = await producer.do("commit-transaction")
    if done.error is not None or producer.failed:
        raise StoryError(f"a transaction failed: {done.error or producer.failed[0]}")


def _aborted(stage: IncidentStage) -> int:
    return len(re.findall(r"Completed rollback of ongoing transaction", stage.cluster.log(1)))


@story("retried-without-idempotence", brokers=1, libraries=("kafkajs",), twin={})
async def retried_without_idempotence(stage: IncidentStage) -> None:
    """Answers to a producer that is not idempotent are lost: what it sends again is in the log twice."""
    await stage.create("orders")
    await stage.clients.member("kafkajs", "billing", ["orders"], request_timeout_ms=30_000)
    limit = 3_000 if stage.caused else 30_000
    producer = await stage.clients.producer("kafkajs", request_timeout_ms=limit)
    await producer.send("orders", 0, 50)
    if await stage.do(stage.admin.offset, "orders") != 50:
        raise StoryError("the machine is too slow: records were sent again before answers were lost")
    door = stage.cluster.clients[1]
    async with trio.open_nursery() as nursery:
        if stage.caused:
            door.mute()
        nursery.start_soon(producer.send, "orders", 0, 10)
        if stage.caused:
            await stage.until("the records", lambda: stage.admin.offset("orders") >= 60)
            where: dict[str, Any] = {"topic": "orders", "partition": 0}
            stage.did("answers to a producer were lost", **where, offset=50, end_offset=60)
            door.mend()
    end = await stage.do(stage.admin.offset, "orders")
    if (end > 60) != stage.caused:
        raise StoryError(f"it wrote {end - 50} records")
    if stage.caused:
        stage.did("records were written twice", client=producer.handle, **where, offset=60, end_offset=end)
        stage.noticed("written-twice", **where, offset=60, end_offset=end)
    await stage.caught_up("orders", groups=["billing"])
