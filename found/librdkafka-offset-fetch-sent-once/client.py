"""A consumer takes a partition on just after the coordinator of its group has moved."""

import os
import subprocess
import time

from confluent_kafka import Consumer, Producer, TopicPartition

SERVERS = {"bootstrap.servers": os.environ["BOOTSTRAP_SERVERS"]}
LIMIT_S = 10

producer = Producer(SERVERS)
for number in range(3):
    producer.produce("orders", f"order {number}")
producer.flush()

consumer = Consumer({**SERVERS, "group.id": "billing", "enable.auto.commit": False})
consumer.commit(offsets=[TopicPartition("orders", 0, 1)], asynchronous=False)
subprocess.run(os.environ["MOVE_COORDINATOR"], shell=True, check=True, stdout=subprocess.DEVNULL)
consumer.assign([TopicPartition("orders", 0)])

read, end_s = [], time.monotonic() + LIMIT_S
while len(read) < 2 and time.monotonic() < end_s:
    message = consumer.poll(0.5)
    if message is not None and message.error():
        print("poll:", message.error().name())
    elif message is not None:
        read.append(message.value())
print(f"read within {LIMIT_S} s:", read)
print("committed, when asked now:", consumer.committed([TopicPartition("orders", 0)], 10)[0].offset)
consumer.close()
