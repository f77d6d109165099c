"""One record that is not JSON in one partition, read with a deserializer for JSON, and others in another."""

import asyncio
import json
import os

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

SERVERS = os.environ["BOOTSTRAP_SERVERS"]
GOOD, BAD = TopicPartition("orders", 0), TopicPartition("orders", 1)


async def main():
    producer = AIOKafkaProducer(bootstrap_servers=SERVERS)
    await producer.start()
    consumer = AIOKafkaConsumer(
        bootstrap_servers=SERVERS, auto_offset_reset="earliest", value_deserializer=json.loads
    )
    await consumer.start()
    consumer.assign([GOOD, BAD])
    for value, partition in ((b"1", GOOD), (b"not json", BAD), (b"2", BAD)):
        await producer.send_and_wait("orders", value, partition=partition.partition)
        await asyncio.sleep(1)
    for _ in range(4):
        try:
            found = await consumer.getmany(timeout_ms=1_000)
            print("read", [each.value for records in found.values() for each in records])
        except json.JSONDecodeError as error:
            print("getmany raised", type(error).__name__)
            consumer.seek(BAD, 1)
    print("position in the other partition:", await consumer.position(GOOD))
    await producer.stop()
    await consumer.stop()


asyncio.run(main())
