"""Incidents of transactions: a producer that dies within one, and two producers with one transactional id."""

from typing import Final

from .clients import Producer
from .stage import GROUPS, IncidentStage, StoryError, story

_IDS: Final = {"java": "payments-java", "confluent-kafka": "payments-c"}
"""The transactional id of each library that has transactions."""


async def _transaction(producer: Producer, count: int, partition: int = 0) -> None:
    await producer.do("begin")
    await producer.send("orders", partition, count)
    done = await producer.do("commit-transaction")
    if done.error is not None:
        raise StoryError(f"a transaction failed: {done.error}")


@story("open-transaction", brokers=1, twin={})
async def producer_died_in_transaction(stage: IncidentStage) -> None:
    """Producers die within transactions. Until these are aborted, for one after its timeout, read_committed
    groups wait behind what was written in them."""
    await stage.create("orders", len(_IDS))
    await stage.groups(["orders"], isolation_level="read_committed")
    await stage.clients.member("kafka-python", "audit", ["orders"])
    for partition, (library, id_) in enumerate(_IDS.items()):
        process = f"{library}-2"
        await stage.clients.start(library, process)
        timeout_ms = 600_000 if partition == 0 else 15_000
        producer = await stage.clients.producer(
            process, transactional_id=id_, transaction_timeout_ms=timeout_ms
        )
        await _transaction(producer, 50, partition)
        await producer.do("begin")
        await producer.send("orders", partition, 20)
        if stage.caused:
            stage.clients.kill(process)
            stable = await stage.do(stage.admin.offset, "orders", partition, committed=True)
            stage.did(
                "a producer died in its transaction",
                topic="orders",
                partition=partition,
                offset=stable,
                transactional_id=id_,
                timeout_ms=timeout_ms,
            )
        else:
            await producer.do("commit-transaction")
            await producer.close()
        await stage.clients.send("kafka-python", "orders", partition, 300)
    await stage.caught_up("orders", groups=["audit"])
    if not stage.caused:
        await stage.caught_up("orders")
        return
    await stage.until(
        "a transaction to be aborted", lambda: stage.admin.offset("orders", 1, committed=True) > 300
    )
    stage.did("a transaction was aborted after its timeout", topic="orders", partition=1)
    stable = await stage.do(stage.admin.offset, "orders", committed=True)
    end = await stage.do(stage.admin.offset, "orders")
    stage.did("groups are stuck", groups=list(GROUPS.values()), offset=stable, end_offset=end)


@story("producer-fenced", brokers=1, twin={})
async def producer_fenced(stage: IncidentStage) -> None:
    """A second instance of an application begins with the transactional id of the first, which then fails."""
    await stage.create("orders")
    await stage.groups(["orders"], isolation_level="read_committed")
    for library, id_ in _IDS.items():
        first = await stage.clients.producer(library, transactional_id=id_)
        await _transaction(first, 20)
        await first.do("begin")
        await first.send("orders", 0, 5)
        second_id = id_ if stage.caused else f"{id_}-2"
        second = await stage.clients.producer(library, transactional_id=second_id)
        await _transaction(second, 20)
        if stage.caused:
            stage.did(
                "another producer took a transactional id",
                transactional_id=id_,
                client=second.handle,
                fenced=first.handle,
            )
        ended = await first.do("commit-transaction")
        if stage.caused:
            if ended.error is None:
                raise StoryError("the first producer was not fenced")
            stage.did(
                "a producer was fenced", transactional_id=id_, client=first.handle, error=str(ended.error)
            )
        for each in (first, second):
            await each.close()
    await stage.clients.send("kafka-python", "orders", 0, 10)
    await stage.caught_up("orders")
