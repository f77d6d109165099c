"""Incidents of producers: forgotten ids, and a transaction that nobody ends."""

import time
from typing import Final

import trio

from mockbroker.rig.batches import TRANSACTIONAL, Record, batch

from .stage import GROUPS, IncidentStage, StoryError, story

_AWAY_S: Final = 2


@story(
    "producer-expired",
    config={"producer.id.expiration.ms": "2000", "producer.id.expiration.check.interval.ms": "200"},
    twin={"producer.id.expiration.ms": "86400000"},
)
async def producer_expiry(stage: IncidentStage) -> None:
    """A leader forgets an idempotent producer that waits for an answer: what it sends again comes twice."""
    await stage.create("orders", replicas=[2, 3, 1])
    await stage.groups(["orders"])
    producer = await stage.clients.producer("java", request_timeout_ms=3_000, linger_ms=20)
    await producer.send("orders", 0, 100)
    door = stage.cluster.clients[2]
    async with trio.open_nursery() as nursery:
        door.mute()
        nursery.start_soon(producer.send, "orders", 0, 10)
        await stage.until("the records in the log", lambda: stage.admin.offset("orders") == 110)
        door.cut()
        stage.did("answers to a producer were lost", topic="orders", partition=0, offset=100, end_offset=110)
        if stage.caused:
            await stage.until("the leader to forget it", lambda: not _producers(stage))
            stage.did("a leader forgot a producer", broker=2, topic="orders", partition=0)
        else:
            await trio.sleep(_AWAY_S)
        door.mend()
    end = await stage.do(stage.admin.offset, "orders")
    if (end > 110) != stage.caused:
        raise StoryError(f"the log ends at {end}")
    if stage.caused:
        stage.did("records were written twice", topic="orders", partition=0, offset=110, twice=end - 110)
    await stage.caught_up("orders")


def _producers(stage: IncidentStage) -> list[int]:
    asked = {"topics": [{"name": "orders", "partition_indexes": [0]}]}
    (found,) = stage.admin.ask(2, "describe_producers", 0, asked)["topics"][0]["partitions"]
    return [each["producer_id"] for each in found["active_producers"]]


@story(
    "transactional-id-expired",
    config={
        "transactional.id.expiration.ms": "3000",
        "transaction.remove.expired.transaction.cleanup.interval.ms": "1000",
    },
    twin={"transactional.id.expiration.ms": "604800000"},
)
async def transactional_id_expiry(stage: IncidentStage) -> None:
    """A transactional producer is idle for so long that its id expires; its next transaction fails."""
    await stage.create("orders", replicas=[2, 3, 1])
    await stage.groups(["orders"], isolation_level="read_committed")
    for library in ("java", "confluent-kafka"):
        id_ = f"payments-{library}"
        producer = await stage.clients.producer(library, transactional_id=id_)
        for verb in ("begin", "send", "commit-transaction"):
            if verb == "send":
                await producer.send("orders", 0, 20)
            else:
                await producer.do(verb)
        if stage.caused:
            await stage.until("the id to expire", lambda id_=id_: id_ not in _transactions(stage))  # type: ignore[misc]
            stage.did("a transactional id expired", transactional_id=id_)
        begun = await producer.do("begin")
        await producer.send("orders", 0, 5)
        ended = await producer.do("commit-transaction")
        told = [*producer.failed, *(str(each.error) for each in (begun, ended) if each.error is not None)]
        if bool(told) != stage.caused:
            raise StoryError(f"the transaction did not fail, or failed: {told}")
        if stage.caused:
            stage.did("a transaction failed", transactional_id=id_, errors=sorted(set(told)))
        await producer.close()
        again = await stage.clients.producer(library, transactional_id=id_)
        await again.do("begin")
        await again.send("orders", 0, 20)
        await again.do("commit-transaction")
        await again.close()
    await stage.until("groups that have read all", lambda: _read(stage, 80))


def _transactions(stage: IncidentStage) -> dict[str, int]:
    """Producer ids by transactional id."""
    listed = [
        each
        for node in stage.cluster.ports
        for each in stage.admin.ask(node, "list_transactions", 0, {})["transaction_states"]
    ]
    return {each["transactional_id"]: each["producer_id"] for each in listed}


def _read(stage: IncidentStage, above: int) -> bool:
    return all(stage.clients.at[group].get(("orders", 0), 0) >= above for group in GROUPS.values())


@story("hanging-transaction", config={"transaction.partition.verification.enable": "false"}, twin={})
async def hanging_transaction(stage: IncidentStage) -> None:
    """A batch comes after its transaction has ended: nobody will end it; read_committed waits behind it."""
    await stage.create("orders", replicas=[2, 3, 1])
    await stage.groups(["orders"], isolation_level="read_committed")
    await stage.clients.member("kafka-python", "audit", ["orders"])
    producer = await stage.clients.producer("java", transactional_id="payments")
    await producer.do("begin")
    await producer.send("orders", 0, 50)
    await producer.do("commit-transaction")
    await stage.until("groups that have read all", lambda: _read(stage, 50))
    if stage.caused:
        producer_id = _transactions(stage)["payments"]
        await stage.do(_late, stage, producer_id)
        stable = await stage.do(stage.admin.offset, "orders", committed=True)
        stage.did(
            "a batch came after its transaction",
            topic="orders",
            partition=0,
            offset=stable,
            producer_id=producer_id,
            transactional_id="payments",
        )
    await stage.clients.send("confluent-kafka", "orders", 0, 300)
    await stage.caught_up("orders", groups=["audit"])
    if not stage.caused:
        await stage.caught_up("orders")
        return
    stuck = await stage.do(stage.admin.offset, "orders", committed=True)
    if stuck != stable:
        raise StoryError(f"the last stable offset moved from {stable} to {stuck}")
    end = await stage.do(stage.admin.offset, "orders")
    stage.did("groups are stuck", groups=list(GROUPS.values()), offset=stable, end_offset=end)


def _late(stage: IncidentStage, producer_id: int) -> None:
    """Asks as a client of before KIP-890 does; the producer's epoch is that of its last transaction or, where
    each transaction has its own, the next."""
    now = time.time_ns() // 1_000_000
    refused = set()
    for epoch, sequence in ((0, 50), (1, 0), (2, 0)):
        late = batch(
            [Record(b"late", timestamp=now)],
            producer_id=producer_id,
            producer_epoch=epoch,
            sequence=sequence,
            attributes=TRANSACTIONAL,
        )
        data = [{"name": "orders", "partition_data": [{"index": 0, "records": late}]}]
        asked = {"transactional_id": "payments", "acks": -1, "timeout": 10_000, "topic_data": data}
        answer = stage.admin.ask(2, "produce", 8, asked)
        error = answer["responses"][0]["partition_responses"][0]["error_code"]
        if error == "NONE":
            return
        refused.add(error)
    raise StoryError(f"the late batch was refused: {', '.join(sorted(refused))}")
