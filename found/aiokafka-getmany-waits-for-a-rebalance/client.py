"""A member polls with a timeout while another one takes its time to give its partitions up."""

import asyncio
import os
import time

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener

SERVERS = os.environ["BOOTSTRAP_SERVERS"]


class Busy(ConsumerRebalanceListener):
    async def on_partitions_revoked(self, revoked):
        await asyncio.sleep(10 if revoked else 0)

    def on_partitions_assigned(self, assigned):
        pass


async def member(listener=None):
    consumer = AIOKafkaConsumer(bootstrap_servers=SERVERS, group_id="billing")
    await consumer.start()
    consumer.subscribe(["orders"], listener=listener)
    return consumer


async def main():
    busy = await member(Busy())
    while not busy.assignment():
        await asyncio.sleep(0.1)
    began_s, other = time.monotonic(), await member()
    await other.getmany(timeout_ms=500)
    print("getmany(timeout_ms=500) took", "10 s" if time.monotonic() - began_s > 8 else "its time")
    await asyncio.gather(busy.stop(), other.stop())


asyncio.run(main())
