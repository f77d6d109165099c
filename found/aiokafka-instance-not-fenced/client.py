"""Two consumers have one group_instance_id, as when a pod is replaced and the one before is still there."""

import asyncio
import logging
import os

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.errors import KafkaError

SERVERS = {"bootstrap_servers": os.environ["BOOTSTRAP_SERVERS"]}
GROUP = {"group_id": "billing", "group_instance_id": "pod-1", "heartbeat_interval_ms": 500}
FROM = {"auto_offset_reset": "earliest", "enable_auto_commit": False}
logging.disable()


async def read(consumer):
    try:
        for _ in range(5):
            record = await consumer.getone()
    except KafkaError as error:
        return f"is told of {error!r}"
    return f"reads the record at offset {record.offset} five times"


async def main():
    producer = AIOKafkaProducer(**SERVERS)
    await producer.start()
    await producer.send_and_wait("orders", b"1", partition=0)
    consumers = [AIOKafkaConsumer("orders", **SERVERS, **GROUP, **FROM) for _ in range(2)]
    for each in consumers:
        await each.start()
    before, after = await asyncio.gather(*map(read, consumers))
    print(f"the consumer before: {before}")
    print(f"the consumer after: {after}")


asyncio.run(main())
