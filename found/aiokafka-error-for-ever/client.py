"""Records that are JSON, then one that is not, in one batch; read with a deserializer for JSON."""

import asyncio
import json
import os

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

SERVERS = os.environ["BOOTSTRAP_SERVERS"]
ORDERS = TopicPartition("orders", 0)


async def main():
    producer = AIOKafkaProducer(bootstrap_servers=SERVERS)
    await producer.start()
    for value in (b"1", b"2", b"not json", b"3"):
        await producer.send_and_wait("orders", value, partition=0)
    await producer.stop()
    consumer = AIOKafkaConsumer(
        bootstrap_servers=SERVERS, auto_offset_reset="earliest", value_deserializer=json.loads
    )
    await consumer.start()
    consumer.assign([ORDERS])
    for _ in range(5):
        try:
            found = await consumer.getmany(timeout_ms=5_000)
            print("read", [each.value for records in found.values() for each in records])
        except json.JSONDecodeError as error:
            print("getmany raised", type(error).__name__, end="; ")
            print("position", await consumer.position(ORDERS))
    await consumer.stop()


asyncio.run(main())
