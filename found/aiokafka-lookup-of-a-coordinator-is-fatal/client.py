"""The connection is lost once, while a transactional producer looks for the coordinator of a group."""

import asyncio
import os

from aiokafka import AIOKafkaProducer, TopicPartition
from aiokafka.conn import AIOKafkaConnection
from aiokafka.errors import KafkaError

SERVERS, FIND_COORDINATOR = os.environ["BOOTSTRAP_SERVERS"], 10
loses, send = set(), AIOKafkaConnection.send


def send_or_lose(connection, request, **options):
    answer = send(connection, request, **options)
    if request.API_KEY in loses:
        loses.clear()
        connection._writer.transport.abort()
    return answer


AIOKafkaConnection.send = send_or_lose


async def main():
    producer = AIOKafkaProducer(bootstrap_servers=SERVERS, transactional_id="billing-1")
    await producer.start()
    await producer.begin_transaction()
    await producer.send_and_wait("invoices", b"1", partition=0)
    loses.add(FIND_COORDINATOR)
    offsets = {TopicPartition("orders", 0): 1}
    for call in producer.send_offsets_to_transaction(offsets, "billing"), producer.abort_transaction():
        try:
            await call
        except (KafkaError, AssertionError) as error:
            print(f"{call.__name__}: {error}")


asyncio.run(main())
