"""A transaction is aborted, since one of its topics may not be written to. Then another one is committed."""

import asyncio
import os

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.errors import TopicAuthorizationFailedError

SERVERS = {"bootstrap_servers": os.environ["BOOTSTRAP_SERVERS"]}
ORDERS = TopicPartition("orders", 0)


async def main():
    producer = AIOKafkaProducer(transactional_id="t", **SERVERS)
    await producer.start()
    await producer.begin_transaction()
    await producer.send_and_wait("orders", b"of the aborted transaction", partition=0)
    await producer.send("secrets", b"x", partition=0)
    try:
        await asyncio.sleep(1)
        await producer.commit_transaction()
    except TopicAuthorizationFailedError as error:
        print(type(error).__name__)
        await producer.abort_transaction()
        print("aborted")
    async with producer.transaction():
        await producer.send_and_wait("orders", b"of the next one", partition=0)
    await producer.stop()
    consumer = AIOKafkaConsumer(isolation_level="read_committed", auto_offset_reset="earliest", **SERVERS)
    await consumer.start()
    consumer.assign([ORDERS])
    found = await consumer.getmany(timeout_ms=5_000)
    print("committed:", [each.value.decode() for each in found[ORDERS]])
    await consumer.stop()


asyncio.run(main())
