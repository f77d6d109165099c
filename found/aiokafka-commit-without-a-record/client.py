"""Consume, transform and produce in a transaction, written as aiokafka's own example is."""

import asyncio
import os

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

SERVERS = os.environ["BOOTSTRAP_SERVERS"]


async def main():
    producer = AIOKafkaProducer(bootstrap_servers=SERVERS, transactional_id="billing")
    await producer.start()
    async with producer.transaction():
        await producer.send("invoices", b"small", partition=0)
        refused = await producer.send("invoices", b"large" * 1000, partition=1)
        await producer.send_offsets_to_transaction({TopicPartition("orders", 0): 2}, "billing")
    print("the transaction was committed")
    print("its second record:", repr(refused.exception()))
    await producer.stop()

    consumer = AIOKafkaConsumer(
        bootstrap_servers=SERVERS,
        group_id="billing",
        enable_auto_commit=False,
        isolation_level="read_committed",
        auto_offset_reset="earliest",
    )
    await consumer.start()
    consumer.assign([TopicPartition("invoices", 0), TopicPartition("invoices", 1)])
    read = [(await consumer.getone()).value]
    for records in (await consumer.getmany(timeout_ms=1000)).values():
        read += [each.value for each in records]
    print("invoices:", read)
    print("orders are committed up to offset", await consumer.committed(TopicPartition("orders", 0)))
    await consumer.stop()


asyncio.run(main())
