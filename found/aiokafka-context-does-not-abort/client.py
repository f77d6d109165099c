"""One of the topics of a transaction may not be written to. The next transactions use others."""

import asyncio
import os

from aiokafka import AIOKafkaProducer


async def main():
    producer = AIOKafkaProducer(transactional_id="t", bootstrap_servers=os.environ["BOOTSTRAP_SERVERS"])
    await producer.start()
    for topic in ("secrets", "orders", "orders"):
        try:
            async with producer.transaction():
                await producer.send(topic, b"1", partition=0)
                await asyncio.sleep(1)
            print(f"{topic}: committed")
        except (Exception, AssertionError) as error:
            print(f"{topic}: {type(error).__name__}")
    await producer.stop()


asyncio.run(main())
