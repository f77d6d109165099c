"""A consumer takes a partition on just after the coordinator of its group has moved."""

import asyncio
import os
import subprocess

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

SERVERS = os.environ["BOOTSTRAP_SERVERS"]
PARTITION = TopicPartition("orders", 0)


async def main():
    producer = AIOKafkaProducer(bootstrap_servers=SERVERS)
    await producer.start()
    for number in range(3):
        await producer.send_and_wait("orders", b"order %d" % number)
    await producer.stop()

    consumer = AIOKafkaConsumer(bootstrap_servers=SERVERS, group_id="billing", enable_auto_commit=False)
    await consumer.start()
    consumer.assign([PARTITION])
    await consumer.commit({PARTITION: 1})
    print("committed:", await consumer.committed(PARTITION))
    consumer.unsubscribe()

    subprocess.run(os.environ["MOVE_COORDINATOR"], shell=True, check=True, stdout=subprocess.DEVNULL)
    consumer.assign([PARTITION])
    print("it begins at", await consumer.position(PARTITION))
    print("committed:", await consumer.committed(PARTITION))
    await consumer.stop()


asyncio.run(main())
