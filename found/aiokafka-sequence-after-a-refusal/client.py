"""A record that is too large among others: idempotent, then in transactions that abort on an error."""

import asyncio
import contextlib
import os

from aiokafka import AIOKafkaProducer

SERVERS = os.environ["BOOTSTRAP_SERVERS"]


async def send(how, **settings):
    producer = AIOKafkaProducer(bootstrap_servers=SERVERS, **settings)
    await producer.start()
    for value in (b"1", b"large" * 1000, b"2", b"3", b"4"):
        scope = producer.transaction() if "transactional_id" in settings else contextlib.nullcontext()
        try:
            async with scope:
                await producer.send_and_wait("orders", value)
            print(f"{how}, {len(value)} bytes: written")
        except Exception as error:
            print(f"{how}, {len(value)} bytes: {error!r}")
    await producer.stop()


async def main():
    await send("idempotent", enable_idempotence=True)
    await send("transactional", transactional_id="billing")


asyncio.run(main())
