"""A member of a group that polls without a timeout, which is the default, and then with one."""

import os
import time

from kafka import KafkaConsumer, KafkaProducer

SERVERS = os.environ["BOOTSTRAP_SERVERS"]
LIMIT_S = 10

producer = KafkaProducer(bootstrap_servers=SERVERS)
for number in range(3):
    producer.send("orders", b"order %d" % number).get(30)
producer.close()

consumer = KafkaConsumer(
    "orders", bootstrap_servers=SERVERS, group_id="billing", auto_offset_reset="earliest"
)


def read(**timeout):
    found, end_s = [], time.monotonic() + LIMIT_S
    while len(found) < 3 and time.monotonic() < end_s:
        for records in consumer.poll(**timeout).values():
            found += [each.value for each in records]
        time.sleep(0.1)
    return found


print(f"poll() read within {LIMIT_S} s: {read()}; assigned: {consumer.assignment()}")
print(f"poll(timeout_ms=1000) read: {read(timeout_ms=1000)}")
consumer.close(autocommit=False)
